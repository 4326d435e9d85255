import { CliError, UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { getNamed } from '../../resources/fetch.ts'
import { ResourceCatalog } from '../../resources/resource-catalog.ts'
import { selectObjects } from '../../resources/select-objects.ts'
import type { Session } from '../../session.ts'
import { refuseConnected } from '../connection-refusals.ts'
import {
  type DataFlags,
  generateConfigMap,
  generateRegistrySecret,
  generateSecret,
  generateTlsSecret,
  type RegistryFlags,
  readData,
} from '../generate/data.ts'
import {
  type BudgetFlags,
  generateBudget,
  generateIngress,
  generateNamespace,
  generatePriorityClass,
  generateQuota,
  generateServiceAccount,
  type IngressFlags,
  type PriorityClassFlags,
  type QuotaFlags,
} from '../generate/policies.ts'
import {
  type BindingFlags,
  type ClusterRoleFlags,
  generateBinding,
  generateClusterRole,
  generateRole,
  type Warn,
} from '../generate/rights.ts'
import { generateService, type ServiceFlags, type ServiceType } from '../generate/services.ts'
import {
  type CronJobFlags,
  type DeploymentFlags,
  generateCronJob,
  generateDeployment,
  generateJob,
  jobFromCronJob,
} from '../generate/workloads.ts'
import { createGenerated, type Generate, type GeneratedFlags } from './generated.ts'

/** Everything the commands under `create` may be told; each reads its own. */
type Flags = GeneratedFlags & Readonly<Record<string, unknown>>

type Create = (host: Host, args: readonly string[], flags: Flags) => Promise<Generate>

/** The commands under `create` that make objects from flags: the first argument is the name. */
export const creations = {
  deployment: async ({ environment }, [name = '', ...command], flags) => {
    return () => generateDeployment(name, command, flags as unknown as DeploymentFlags, environment.random)
  },
  job: async (_host, [name = '', ...command], flags) => {
    const { image, from } = flags as { readonly image?: string; readonly from?: string }
    if (((image ?? '') === '') === (from === undefined)) {
      throw new CliError('either --image or --from must be specified')
    }
    return async (session) => {
      if (from === undefined) return generateJob(name, command, image ?? '')
      if (command.length > 0) throw new CliError('cannot specify --from and command')
      const [selection] = selectObjects([from], 'create', await session.catalog(), {})
      if (selection?.name === undefined) throw new CliError('resource(s) were provided, but no name was specified')
      const { resource, name: source } = selection
      const key = { name: source, ...(resource.namespaced ? { namespace: session.namespace } : {}) }
      const cronJob = await getNamed(session.client, resource, key, undefined)
      if (resource.kind !== 'CronJob') throw new CliError(`unknown object type *${resource.version}.${resource.kind}`)
      return jobFromCronJob(name, cronJob)
    }
  },
  cronjob: async (_host, [name = '', ...command], flags) => {
    return () => generateCronJob(name, command, flags as unknown as CronJobFlags)
  },
  namespace:
    async (_host, [name = '']) =>
    () =>
      generateNamespace(name),
  serviceaccount:
    async (_host, [name = '']) =>
    () =>
      generateServiceAccount(name),
  quota:
    async (_host, [name = ''], flags) =>
    () =>
      generateQuota(name, flags as QuotaFlags),
  poddisruptionbudget:
    async (_host, [name = ''], flags) =>
    () =>
      generateBudget(name, flags as BudgetFlags),
  priorityclass:
    async (_host, [name = ''], flags) =>
    () =>
      generatePriorityClass(name, flags as unknown as PriorityClassFlags),
  ingress:
    async (_host, [name = ''], flags) =>
    () =>
      generateIngress(name, flags as unknown as IngressFlags),
  configmap: async (host, [name = ''], flags) => {
    const data = await readData(host, flags as unknown as DataFlags, ` in Data for ConfigMap ${JSON.stringify(name)}`)
    return () => generateConfigMap(name, data)
  },
  'secret generic': async (host, [name = ''], flags) => {
    const data = await readData(host, flags as unknown as DataFlags)
    return () => generateSecret(name, data, flags.type as string | undefined)
  },
  'secret tls': async (host, [name = ''], flags) => {
    if (flags.cert === undefined || flags.key === undefined) throw new CliError('key and cert must be specified')
    return () => generateTlsSecret(host, name, String(flags.cert), String(flags.key))
  },
  'secret docker-registry': async (host, [name = ''], flags) => {
    const secret = await generateRegistrySecret(host, name, flags as unknown as RegistryFlags)
    return () => secret
  },
  role:
    async (host, [name = ''], flags) =>
    async (session) =>
      generateRole(name, flags as unknown as ClusterRoleFlags, await catalogFor(session, flags), warning(host)),
  clusterrole:
    async (host, [name = ''], flags) =>
    async (session) =>
      generateClusterRole(name, flags as unknown as ClusterRoleFlags, await catalogFor(session, flags), warning(host)),
  rolebinding:
    async (_host, [name = ''], flags) =>
    () =>
      generateBinding('RoleBinding', name, flags as unknown as BindingFlags),
  clusterrolebinding:
    async (_host, [name = ''], flags) =>
    () =>
      generateBinding('ClusterRoleBinding', name, flags as unknown as BindingFlags),
  'service clusterip': service('ClusterIP'),
  'service nodeport': service('NodePort'),
  'service loadbalancer': service('LoadBalancer'),
  'service externalname': service('ExternalName'),
} satisfies Readonly<Record<string, Create>>

export type Creation = keyof typeof creations

function service(type: ServiceType): Create {
  return async (_host, [name = ''], flags) => {
    return () => generateService(name, type, flags as unknown as ServiceFlags)
  }
}

/** Whether it takes a server to know what is to be made: the types that rules name, or what a Job is made from. */
function asksServer(creation: Creation, flags: Flags): boolean {
  if (creation === 'role' || creation === 'clusterrole') return namesResources(flags)
  return creation === 'job' && flags.from !== undefined
}

const namesResources = ({ resource }: Flags): boolean => Array.isArray(resource) && resource.length > 0

/** The types that rules may name; no server is asked where they name none. */
const catalogFor = async (session: Session, flags: Flags): Promise<ResourceCatalog> =>
  namesResources(flags) ? session.catalog() : new ResourceCatalog([])

/** Flags that have to be given, which is looked at first. */
const requiredFlags: Readonly<Partial<Record<Creation, readonly string[]>>> = {
  deployment: ['image'],
  cronjob: ['image', 'schedule'],
  clusterrolebinding: ['clusterrole'],
  'service externalname': ['external-name'],
}

/** Throws a CliError that names the flags which are missing. */
function requireFlags(flags: Flags, names: readonly string[]): void {
  const missing = names.filter((name) => {
    const value = flags[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())]
    return value === undefined || (Array.isArray(value) && value.length === 0)
  })
  if (missing.length > 0) {
    throw new CliError(`required flag(s) ${missing.map((name) => JSON.stringify(name)).join(', ')} not set`)
  }
}

const warning =
  ({ stderr }: Host): Warn =>
  (text) =>
    stderr.write(`Warning: ${text}\n`)

/** What a refusal begins with after `failed to create`, in kubectl's words; others are shown as the server words them. */
const subjects: Readonly<Partial<Record<Creation, string>>> = {
  deployment: 'deployment:',
  job: 'job:',
  cronjob: 'cronjob:',
  configmap: 'configmap:',
  'secret generic': 'secret',
  'secret tls': 'secret',
  'secret docker-registry': 'secret',
  quota: 'quota:',
  poddisruptionbudget: 'poddisruptionbudgets:',
  priorityclass: 'priorityclass:',
  ingress: 'ingress:',
  rolebinding: 'rolebinding:',
  clusterrolebinding: 'clusterrolebinding:',
  serviceaccount: 'serviceaccount:',
  'service clusterip': 'ClusterIP service:',
  'service nodeport': 'NodePort service:',
  'service loadbalancer': 'LoadBalancer service:',
  'service externalname': 'ExternalName service:',
}

/** What stands after the flags: a name, and after `--` the command of what takes one. */
export interface CreationWords {
  readonly args: readonly string[]
  /** How many of them stand before `--`; undefined without one. */
  readonly beforeDash: number | undefined
}

/** `coracle create deployment NAME --image=…` and the like */
export async function createFromFlags(
  host: Host,
  creation: Creation,
  { args, beforeDash = args.length }: CreationWords,
  flags: GeneratedFlags,
): Promise<void> {
  requireFlags(flags as Flags, requiredFlags[creation] ?? [])
  if (beforeDash !== 1) throw new UsageError(`exactly one NAME is required, got ${beforeDash}`)
  // A binding's users are those who get the role, and not who asks for it.
  const { user, saveConfig = false, ...others } = flags
  const asking = Array.isArray(user) || user === undefined ? others : { ...others, user }
  const { dryRun, validate } = flags.lateRefusals ?? {}
  if (dryRun !== undefined) await refuseConnected(host, asking, dryRun)
  // A wrong -o is told before other flags are judged.
  await OutcomePrinter.for(host, flags)
  if (validate !== undefined) await refuseConnected(host, asking, validate)
  const create: Create = creations[creation]
  const generate = await create(host, args, flags as Flags).catch((refusal: unknown) =>
    refuseConnected(host, asking, refusal),
  )
  // Of Services kubectl notes nothing.
  const saved = { ...asking, saveConfig: saveConfig && !creation.startsWith('service ') }
  await createGenerated(host, saved, generate, {
    subject: subjects[creation],
    asksServer: asksServer(creation, flags as Flags),
  })
}

import type { Container, EnvFromSource, EnvVar, PodSpec } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import { checkConnection } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { inputTwiceText, loadManifests } from '../../manifests/load-manifests.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { type Session, withSession } from '../../session.ts'
import { type ChangeFlags, changeObjects, localAndServer } from '../change-objects.ts'
import { findTargets, requireAll, type Target } from '../targets.ts'
import { variableNameProblem } from '../variable-name.ts'
import {
  allAndSelector,
  allContainers,
  changedTemplate,
  changing,
  hasTemplate,
  nameMatcher,
  setFlags,
  templateOf,
  withContainers,
} from './pod-templates.ts'
import { resolveEnvironment } from './resolve-env.ts'

export interface SetEnvFlags extends ChangeFlags {
  /** Further `KEY=VALUE`. */
  readonly env: readonly string[]
  /** Names of containers; `*` stands for any text. */
  readonly containers: string
  readonly overwrite: boolean
  readonly list?: boolean
  /** With `list`: what references lead to, and not where. */
  readonly resolve?: boolean
  /** A ConfigMap or Secret whose keys become variables: `secret/NAME`. */
  readonly from?: string
  readonly prefix?: string
  /** Keys to take, of those. */
  readonly keys: readonly string[]
}

/** `coracle set env TYPE NAME KEY=VALUE KEY-` */
export async function setEnv(host: Host, args: readonly string[], flags: SetEnvFlags): Promise<void> {
  for (const refusal of allAndSelector(flags)) throw refusal
  const { resources, changes } = splitArguments(args)
  // kubectl tells first that it knows no such format.
  await OutcomePrinter.for(host, flags)
  // It makes a client without a server, too.
  await checkConnection(host, flags)
  for (const refusal of localAndServer(flags)) throw refusal
  if (resources.length === 0 && flags.filename.length === 0) throw new CliError(noResource)
  if (flags.list === true && (flags.output ?? '') !== '') {
    throw new CliError('--list and --output may not be specified together')
  }
  if (flags.keys.length > 0 && (flags.from ?? '') === '') {
    throw new CliError('when specifying --keys, a configmap or secret must be provided with --from')
  }
  // What flags name counts before what stands among the arguments.
  const given = await parseChanges(host, [...flags.env, ...changes])
  if (given.readsInput && flags.filename.includes('-')) throw new CliError(inputTwiceText)
  const chosen = nameMatcher(flags.containers)
  const variables =
    flags.from === undefined
      ? []
      : flags.local === true
        ? await refuseOtherFiles(host, flags)
        : await withSession(host, flags, (session) => variablesFrom(host, session, flags.from ?? '', flags))
  // Without a server objects are those of files, whatever stands beside them.
  const named = flags.local === true ? [] : resources
  await changeObjects(
    host,
    named,
    'set',
    { ...flags, ...setFlags, readsInput: given.readsInput },
    async (session, target) => {
      // What is only listed is not told of where it cannot have variables.
      if (flags.list === true && !hasTemplate(target)) return undefined
      const template = changing(target, flags, () => templateOf(target))
      const set = [...given.set, ...variables].map((variable) => ({
        ...variable,
        name: `${flags.prefix ?? ''}${variable.name}`,
      }))
      const containers = allContainers(template).filter(({ name }) => chosen(name))
      if (containers.length === 0) {
        host.stderr.write(
          `Warning: ${target.object.kind}/${target.key.name} does not have any containers matching ${JSON.stringify(flags.containers)}\n`,
        )
        return undefined
      }
      const spec = changing(target, flags, () =>
        withContainers(template, (container) =>
          chosen(container.name) ? withVariables(container, set, given.remove, flags.overwrite) : container,
        ),
      )
      if (flags.list === true) {
        for (const container of initContainersLast(spec).filter(({ name }) => chosen(name))) {
          const shown =
            flags.resolve === true ? await resolveEnvironment(host, session, target, spec, container) : container
          host.stdout.write(environmentText(target, shown))
        }
        return undefined
      }
      return changedTemplate(session, target, spec, flags, {
        done: 'env updated',
        failure: 'failed to patch env update to pod template:',
      })
    },
  )
}

const unsupportedSource = 'unsupported resource specified in --from'
const noResource = 'one or more resources must be specified as <resource> <name> or <resource>/<name>'

/** Resources first, then what is to be done with variables. */
function splitArguments(args: readonly string[]) {
  const isChange = (arg: string): boolean => arg.indexOf('=') > 0 || (arg.endsWith('-') && !arg.includes('/'))
  const first = args.findIndex(isChange)
  const [resources, changes] = first < 0 ? [args, []] : [args.slice(0, first), args.slice(first)]
  if (changes.every(isChange)) return { resources, changes }
  throw new CliError(`all resources must be specified before environment changes: ${args.join(' ')}`)
}

/** Variables to set, `KEY=VALUE` or those of standard input where that is `-`, and to take away, `KEY-`. Rejects with a CliError on anything else. */
async function parseChanges(host: Host, texts: readonly string[]) {
  const set: EnvVar[] = []
  const named = new Set<string>()
  const remove: string[] = []
  for (const text of texts) {
    const at = text.indexOf('=')
    if (text === '-') set.push(...variablesOf(await host.readStdin()))
    else if (at >= 0) {
      const name = variableName(text.slice(0, at))
      named.add(name)
      set.push({ name, value: text.slice(at + 1) })
    } else if (text.endsWith('-')) remove.push(text.slice(0, -1))
    else throw new CliError(`unknown environment variable: ${text}`)
  }
  if (remove.some((name) => named.has(name))) {
    throw new CliError('can not both modify and remove the same environment variable in the same command')
  }
  return { set, remove, readsInput: texts.includes('-') }
}

/** A variable a line, `KEY=VALUE`. What follows `#`, and other lines, are left out. */
function variablesOf(text: string): readonly EnvVar[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [pair = ''] = line.split('#', 1)
    const at = pair.indexOf('=')
    return at < 0 ? [] : [{ name: pair.slice(0, at), value: pair.slice(at + 1) }]
  })
}

/** A name as kubectl takes it, which is more particular than servers are. */
function variableName(name: string): string {
  const problem = variableNameProblem(name)
  if (problem === undefined) return name
  throw new CliError(`${JSON.stringify(name)} is not a valid key name: ${problem}`)
}

function withVariables(
  container: Container,
  set: readonly EnvVar[],
  remove: readonly string[],
  overwrite: boolean,
): Container {
  const env = [...(container.env ?? [])]
  // Of several of one name the first counts.
  for (const variable of set.filter(({ name }, index) => set.findIndex((other) => other.name === name) === index)) {
    const at = env.findIndex(({ name }) => name === variable.name)
    if (at < 0) env.push(variable)
    else if (overwrite) env[at] = variable
    else
      throw new CliError(`'${variable.name}' already has a value (${env[at]?.value ?? ''}), and --overwrite is false`)
  }
  const kept = env.filter(({ name }) => !remove.includes(name))
  return kept.length === 0 && container.env === undefined ? container : { ...container, env: kept }
}

/** The keys of a ConfigMap or Secret as variables that take them. */
async function variablesFrom(
  host: Host,
  session: Session,
  from: string,
  flags: SetEnvFlags,
): Promise<readonly EnvVar[]> {
  const { keys } = flags
  // It is looked for as the objects are that arguments name: the same files and selectors stand beside it.
  const sources = requireAll(await findTargets(host, session, [from], 'set', { ...flags, ...setFlags }))
  return sources.flatMap(({ resource, key: { name }, object }) => {
    const reference = { ConfigMap: 'configMapKeyRef', Secret: 'secretKeyRef' }[resource.kind]
    if (reference === undefined) throw new CliError(unsupportedSource)
    const data = (object as { readonly data?: Readonly<Record<string, string>> }).data ?? {}
    return Object.keys(data)
      .filter((key) => keys.length === 0 || keys.includes(key))
      .sort()
      .map((key) => {
        const variable = key.replace(/[-.]/g, '_').toUpperCase()
        if (variable !== key) host.stderr.write(`Warning: key ${key} transferred to ${variable}\n`)
        return { name: variable, valueFrom: { [reference]: { name, key } } }
      })
  })
}

/** Without a server kubectl looks for what `--from` names in the files themselves: throws a CliError where they have anything else. */
async function refuseOtherFiles(host: Host, flags: SetEnvFlags): Promise<readonly EnvVar[]> {
  const manifests = await loadManifests(host, flags, { decoding: 'typed' })
  if (manifests.some(({ object }) => !['ConfigMap', 'Secret'].includes(object.kind)))
    throw new CliError(unsupportedSource)
  return []
}

/** As kubectl lists them. */
const initContainersLast = ({ initContainers = [], containers = [] }: PodSpec): readonly Container[] => [
  ...containers,
  ...initContainers,
]

function environmentText({ object, key }: Target, { name, env = [], envFrom = [] }: Container): string {
  const head = `# ${object.kind} ${key.name}, container ${name}\n`
  return [head, ...env.map(variableLine), ...envFrom.map(sourceLine)].join('')
}

function variableLine({ name, value = '', valueFrom }: EnvVar): string {
  if (valueFrom === undefined) return `${name}=${value}\n`
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = valueFrom
  if (configMapKeyRef) return `# ${name} from configmap ${configMapKeyRef.name}, key ${configMapKeyRef.key}\n`
  if (secretKeyRef) return `# ${name} from secret ${secretKeyRef.name}, key ${secretKeyRef.key}\n`
  if (fieldRef) return `# ${name} from field path ${fieldRef.fieldPath}\n`
  const { containerName = '', resource = '' } = resourceFieldRef ?? {}
  return `# ${name} from resource field ${containerName === '' ? '' : `${containerName}/`}${resource}\n`
}

function sourceLine({ prefix = '', configMapRef, secretRef }: EnvFromSource): string {
  const [kind, name] = configMapRef ? ['configmap', configMapRef.name] : ['secret', secretRef?.name]
  return prefix === '' ? `# ${kind} ${name}\n` : `# ${prefix} from ${kind} ${name}\n`
}

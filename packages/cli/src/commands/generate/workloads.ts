import type { KubernetesObject } from '@coracle/api'
import { nameAlphabet, type Random } from '@coracle/environment'
import { CliError, UsageError } from '../../cli-error.ts'
import { splitOnce } from '../../split-once.ts'
import { variableNameProblem } from '../variable-name.ts'

export interface DeploymentFlags {
  readonly image: readonly string[]
  readonly replicas: number
  readonly port?: number
}

/** A Deployment of containers with these images. */
export function generateDeployment(
  name: string,
  command: readonly string[],
  { image, replicas, port }: DeploymentFlags,
  random: Random,
): KubernetesObject {
  if (image.length > 1 && command.length > 0) {
    throw new CliError('cannot specify multiple --image options and command')
  }
  const labels = { app: name }
  const containers = image.map((each, index) => ({
    name: containerName(each, random),
    image: each,
    ...(command.length === 0 ? {} : { command }),
    // Below zero it stands for none, as in kubectl.
    ...(port === undefined || port < 0 || index > 0 ? {} : { ports: [{ containerPort: port }] }),
    resources: {},
  }))
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    ...{
      spec: {
        replicas,
        selector: { matchLabels: labels },
        strategy: {},
        template: { metadata: { labels }, spec: { containers } },
      },
      status: {},
    },
  }
}

/**
 * `registry.example/team/web:1` is the image of a container `web`. One whose name has dots or underscores gets hyphens for them, and an
 * ending that keeps it apart from others.
 */
function containerName(image: string, random: Random): string {
  const last = image.split('/').at(-1) ?? ''
  const [name = ''] = last.split(/[:@]/, 1)
  // What else is no name is for the server to refuse.
  return /[._]/.test(name) ? `${name.replace(/[._]/g, '-')}-${random.string(suffixLength, nameAlphabet)}` : name
}

const suffixLength = 5

/** A Job of one container. */
export function generateJob(name: string, command: readonly string[], image: string): KubernetesObject {
  const containers = [{ name, image, ...(command.length === 0 ? {} : { command }), resources: {} }]
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    ...{ spec: { template: { metadata: {}, spec: { containers, restartPolicy: 'Never' } } }, status: {} },
  }
}

/** A Job as a CronJob would make it now; it belongs to that CronJob. */
export function jobFromCronJob(name: string, cronJob: KubernetesObject): KubernetesObject {
  const { metadata } = cronJob
  const { jobTemplate } = (cronJob as { readonly spec?: { readonly jobTemplate?: JobTemplate } }).spec ?? {}
  const owner = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
  }
  const { labels, annotations } = jobTemplate?.metadata ?? {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [owner],
    },
    ...{ spec: jobTemplate?.spec ?? {}, status: {} },
  }
}

interface JobTemplate {
  readonly metadata?: KubernetesObject['metadata']
  readonly spec?: object
}

export interface CronJobFlags {
  readonly image: string
  readonly schedule: string
  readonly restart: string
}

/** A CronJob of one container. */
export function generateCronJob(
  name: string,
  command: readonly string[],
  { image, schedule, restart }: CronJobFlags,
): KubernetesObject {
  const containers = [{ name, image, ...(command.length === 0 ? {} : { command }), resources: {} }]
  const jobTemplate = {
    metadata: { name },
    spec: { template: { metadata: {}, spec: { containers, restartPolicy: restart || 'OnFailure' } } },
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name },
    ...{ spec: { jobTemplate, schedule }, status: {} },
  }
}

/** A port in Go's words where it is no number; whether it is one that can be had is for the server to say. */
export function portOf(text: string): number {
  if (/^[-+]?\d+$/.test(text)) return Number(text)
  throw new CliError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
}

export interface PodFlags {
  readonly image: string
  readonly port?: string
  readonly env: readonly string[]
  readonly labels?: string
  readonly annotations: readonly string[]
  readonly restart: string
  readonly imagePullPolicy?: string
  /** The container has the rights of its node. */
  readonly privileged?: boolean
  /** The arguments are the command, and not what the image's command gets. */
  readonly command?: boolean
  /** The container has an input, which ends with the first client unless it is left open. */
  readonly stdin?: boolean
  readonly leaveStdinOpen?: boolean
  readonly tty?: boolean
}

/** A pod of one container. */
export function generatePod(name: string, args: readonly string[], flags: PodFlags): KubernetesObject {
  const restartPolicies = ['Always', 'OnFailure', 'Never']
  // None is the first.
  const restartPolicy = flags.restart === '' ? 'Always' : flags.restart
  if (!restartPolicies.includes(restartPolicy)) {
    throw new UsageError(`invalid restart policy: ${flags.restart}`)
  }
  const labels = flags.labels === undefined ? { run: name } : labelsOf(flags.labels)
  const annotations = pairsOf(
    flags.annotations.filter((text) => text !== ''),
    'annotations format',
  )
  const env = flags.env.filter((pair) => pair !== '').map(variableOf)
  const container = {
    name,
    image: flags.image,
    ...(args.length === 0 ? {} : { [flags.command === true ? 'command' : 'args']: args }),
    ...(env.length === 0 ? {} : { env }),
    ...((flags.port ?? '') === '' ? {} : { ports: [{ containerPort: portOf(flags.port ?? '') }] }),
    ...(flags.imagePullPolicy ? { imagePullPolicy: pullPolicyOf(flags.imagePullPolicy) } : {}),
    ...(flags.privileged === true ? { securityContext: { privileged: true } } : {}),
    resources: {},
    ...(flags.stdin === true ? { stdin: true } : {}),
    ...(flags.stdin === true && flags.leaveStdinOpen !== true ? { stdinOnce: true } : {}),
    ...(flags.tty === true ? { tty: true } : {}),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, ...(flags.annotations.length === 0 ? {} : { annotations }) },
    ...{ spec: { containers: [container], dnsPolicy: 'ClusterFirst', restartPolicy }, status: {} },
  }
}

/** `KEY=VALUE` as a variable. Throws a CliError for what is none. */
function variableOf(text: string): { readonly name: string; readonly value?: string } {
  const [name, value] = splitOnce(text, '=')
  if (value === undefined || variableNameProblem(name) !== undefined) throw new CliError(`invalid env: ${text}`)
  return value === '' ? { name } : { name, value }
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never']

function pullPolicyOf(text: string): string {
  if (pullPolicies.includes(text)) return text
  throw new UsageError(`invalid image pull policy: ${text}`)
}

/** `KEY=VALUE` texts as an object. Throws a CliError that names those that are not of that form. */
export function pairsOf(texts: readonly string[], noun: string): Readonly<Record<string, string>> {
  const invalid = texts.filter((text) => text.indexOf('=') <= 0)
  if (invalid.length > 0) throw new CliError(`invalid ${noun}: ${invalid.join(', ')}`)
  return Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]))
}

/** `KEY=VALUE,KEY=VALUE` as labels. Throws a CliError for what is none. */
export function labelsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [key = '', value, ...more] = pair.split('=')
      if (key === '' || value === undefined || more.length > 0) throw new CliError(`unexpected label spec: ${pair}`)
      return [key, value]
    }),
  )
}

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { hasReason, isJsonObject, type Node, type Pod, pods } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { nameAlphabet } from '@coracle/environment'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { plainFieldManager } from '../../manifests/field-managers.ts'
import { hasFiles, loadReadable, type ManifestFlags } from '../../manifests/load-manifests.ts'
import type { Manifest } from '../../manifests/parse-manifests.ts'
import { patchBetween } from '../../manifests/patch-between.ts'
import { getNamed } from '../../resources/fetch.ts'
import { type Selection, selectObjects } from '../../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../../session.ts'
import { splitOnce } from '../../split-once.ts'
import { attachTo } from '../attach.ts'
import { awaitObject } from '../await-object.ts'
import { InterruptedError } from '../connect-streams.ts'
import { isImageReference } from '../image-reference.ts'
import { selectionOf, visitManifests } from '../manifest-command.ts'
import { containerNames, copyForDebugging, type DebugRequest, podOnNode, withDebugContainer } from './debug-pods.ts'
import { checkProfile, type KeepFlags } from './profiles.ts'

export interface DebugFlags extends ConnectionFlags, ManifestFlags, KeepFlags {
  readonly image?: string
  readonly container?: string
  readonly argumentsOnly?: boolean
  /** Waits for the container and connects the terminal here to it; with `stdin` unless it says no. */
  readonly attach?: boolean
  readonly copyTo?: string
  readonly replace?: boolean
  readonly sameNode?: boolean
  readonly shareProcesses?: boolean
  readonly setImage: readonly string[]
  readonly env: readonly string[]
  readonly imagePullPolicy?: string
  readonly stdin?: boolean
  readonly tty?: boolean
  readonly quiet?: boolean
  readonly target?: string
  readonly profile: string
  /** A file with a part of a container. */
  readonly custom?: string
}

/** A container that was made to debug with. */
interface Made {
  readonly pod: Pod
  /** Absent: a copy with other images, and no container of its own. */
  readonly container: string | undefined
}

/** `coracle debug POD --image=IMAGE [-- COMMAND]`, `coracle debug POD --copy-to=NAME …`, `coracle debug node/NAME --image=IMAGE` */
export async function debug(
  host: Host,
  targets: readonly string[],
  command: readonly string[],
  flags: DebugFlags,
): Promise<void> {
  checkProfile(flags.profile)
  const request = await requestOf(host, command, flags)
  check(host, targets, request, flags)
  await withSession(host, flags, async (session) => {
    await forEachSelection(host, session, targets, flags, async (selection) => {
      const { pod, container } = await debugOne(host, session, selection, request, flags)
      const isAttached = flags.attach ?? flags.stdin === true
      if (isAttached && container !== undefined) await attachWhenRunning(host, session, pod, container, flags)
    })
  })
}

async function requestOf(host: Host, command: readonly string[], flags: DebugFlags): Promise<DebugRequest> {
  const { custom: file, env, setImage, ...rest } = flags
  const custom = file === undefined ? undefined : await readCustom(host, file)
  return {
    ...rest,
    command,
    env: fromPairs(env),
    setImage: fromPairs(setImage),
    ...(custom === undefined ? {} : { custom }),
  }
}

/** `KEY=VALUE` texts as an object; what a key may be is for the server to say. */
const fromPairs = (texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const [key, value = ''] = splitOnce(text, '=')
      return [key, value]
    }),
  )

/** Reads a part of a container, in JSON or YAML. */
async function readCustom(host: Host, path: string): Promise<object> {
  const text = await readFile(resolve(host.workingDirectory, path), 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = { ENOENT: `open ${path}: no such file or directory`, EISDIR: `read ${path}: is a directory` }[code]
    throw new CliError(
      `must pass a container spec json file for custom profile: ${reason ?? (error instanceof Error ? error.message : error)}`,
    )
  })
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    value = error
  }
  if (isJsonObject(value)) return value
  const why = value instanceof Error ? value.message : 'it is no object'
  throw new CliError(`${path} does not contain a valid container spec: ${why}`)
}

const unchangeable = ['name', 'command', 'image', 'lifecycle', 'volumeDevices']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']

/** Throws a CliError on flags that do not go together, in the order in which kubectl looks at them. */
function check(host: Host, targets: readonly string[], request: DebugRequest, flags: DebugFlags): void {
  const { image = '', setImage, command, imagePullPolicy = '', target, custom } = request
  const { container = '', copyTo = '' } = flags
  const images = Object.entries(setImage)
  if (flags.attach === true && image === '' && container === '') {
    throw new CliError('you must specify --container or create a new container using --image in order to attach.')
  }
  if (copyTo !== '') {
    if (image === '' && images.length === 0 && command.length === 0) {
      throw new CliError('you must specify --image, --set-image or command arguments.')
    }
    if (command.length > 0 && container === '' && image === '') {
      throw new CliError('you must specify an existing container or a new image when specifying args.')
    }
  } else {
    if (flags.replace === true) throw new CliError('--replace may only be used with --copy-to.')
    if (flags.sameNode === true) throw new CliError('--same-node may only be used with --copy-to.')
    if (images.length > 0) throw new CliError('--set-image may only be used with --copy-to.')
    if (image === '') throw new CliError('you must specify --image when not using --copy-to.')
  }
  if (image !== '' && !isImageReference(image)) {
    throw new CliError(`invalid image name ${JSON.stringify(image)}: invalid reference format`)
  }
  if (targets.length === 0 && !hasFiles(flags)) throw new CliError('NAME or filename is required for debug')
  if (imagePullPolicy !== '' && !pullPolicies.includes(imagePullPolicy)) {
    throw new CliError(`invalid image pull policy: ${imagePullPolicy}`)
  }
  for (const [name, each] of images) {
    if (isImageReference(each)) continue
    throw new CliError(
      `invalid image name ${JSON.stringify(each)} for container ${JSON.stringify(name)}: invalid reference format`,
    )
  }
  if (target !== undefined) {
    if (copyTo !== '') throw new CliError('--target is incompatible with --copy-to. Use --share-processes instead.')
    if (flags.quiet !== true) {
      host.stdout.write(
        `Targeting container ${JSON.stringify(target)}. If you don't see processes from this container it may be because the container runtime doesn't support this feature.\n`,
      )
    }
  }
  if (flags.tty === true && flags.stdin !== true) {
    throw new CliError('-i/--stdin is required for containers with -t/--tty=true')
  }
  if (custom !== undefined && unchangeable.some((field) => Object.hasOwn(custom, field))) {
    throw new CliError('name, command, image, lifecycle and volume devices are not modifiable via custom profile')
  }
  warnOfProfile(host, flags)
}

function warnOfProfile({ stderr }: Host, { profile }: DebugFlags): void {
  if (profile !== 'legacy') return
  stderr.write(
    '--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to specify other profile, for example "--profile=general".\n',
  )
}

/** Does something with each object that is meant, one after another. */
async function forEachSelection(
  host: Host,
  session: Session,
  targets: readonly string[],
  flags: DebugFlags,
  act: (selection: Selection) => Promise<void>,
): Promise<void> {
  const args = targets.map((target) => (target.includes('/') ? target : `pods/${target}`))
  const read = await loadReadable(host, flags, { decoding: 'typed', flattens: false, args })
  if (hasFiles(flags)) return visitManifests(session, read, (placed) => act(selectionOf(placed)), requireNoList)
  for (const selection of selectObjects(args, 'debug', await session.catalog(), {})) await act(selection)
}

/** Throws a CliError for what is neither a pod nor a node: kubectl does not look for such an object of a file. */
function requireDebuggable({ group, version, kind }: Pick<DiscoveredResource, 'group' | 'version' | 'kind'>): void {
  if (group === '' && (kind === 'Pod' || kind === 'Node')) return
  throw new CliError(`"${group}/${version}, Kind=${kind}" not supported by debug`)
}

/** Throws a CliError for a list of objects, which kubectl's debug does not take apart. */
function requireNoList({ object: { apiVersion, kind } }: Manifest): boolean {
  if (kind !== 'List') return true
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  requireDebuggable({ group, version, kind })
  return true
}

async function debugOne(
  host: Host,
  session: Session,
  { resource, name = '', namespace = session.namespace }: Selection,
  request: DebugRequest,
  flags: DebugFlags,
): Promise<Made> {
  const { client } = session
  const key = { name, ...(resource.namespaced ? { namespace } : {}) }
  if (hasFiles(flags)) requireDebuggable(resource)
  const target = await getNamed(client, resource, key, undefined)
  if (resource.kind === 'Node' && resource.group === '') return debugNode(host, session, target as Node, request, flags)
  requireDebuggable(resource)
  return request.copyTo === undefined || request.copyTo === ''
    ? debugInPod(host, session, target as Pod, request, flags)
    : debugInCopy(host, session, target as Pod, request, flags)
}

async function debugNode(
  host: Host,
  session: Session,
  node: Node,
  request: DebugRequest,
  { container = 'debugger', quiet }: DebugFlags,
): Promise<Made> {
  const podName = `node-debugger-${node.metadata.name}-${suffix(host)}`
  if (quiet !== true) {
    host.stdout.write(`Creating debugging pod ${podName} with container ${container} on node ${node.metadata.name}.\n`)
  }
  const made = podOnNode(node, podName, container, request)
  const { namespace } = session
  const pod = await session.client.create<Pod>(pods, { ...made, metadata: { ...made.metadata, namespace } }, written)
  return { pod, container }
}

async function debugInPod(
  host: Host,
  { client }: Session,
  pod: Pod,
  request: DebugRequest,
  flags: DebugFlags,
): Promise<Made> {
  const container = flags.container ?? newName(host, pod, flags)
  const changed = withDebugContainer(pod, container, request)
  warnOfRights(host, changed, container)
  const { name = '', namespace = '' } = pod.metadata
  const options = { ...written, subresource: 'ephemeralcontainers' }
  try {
    const patch = patchBetween(pods, pod, changed)
    return { pod: await client.patch<Pod>(pods, { name, namespace }, patch, options), container }
  } catch (error) {
    // A server without the subresource has nothing to name.
    if (!hasReason(error, 'NotFound') || (error.status.details?.name ?? '') !== '') throw error
    throw new CliError(
      `ephemeral containers are disabled for this cluster (error from server: ${JSON.stringify(error.message)})`,
    )
  }
}

async function debugInCopy(
  host: Host,
  { client }: Session,
  pod: Pod,
  request: DebugRequest,
  flags: DebugFlags,
): Promise<Made> {
  const { copy, name } = copyForDebugging(pod, request, (each) => newName(host, each, flags), flags.container)
  if (name !== undefined) warnOfRights(host, copy, name)
  const created = await client.create<Pod>(pods, copy, written)
  if (flags.replace === true) {
    const { name: replaced = '', namespace = '' } = pod.metadata
    await client.delete(pods, { name: replaced, namespace }, { gracePeriodSeconds: 0 })
  }
  return { pod: created, container: name }
}

const written = { fieldManager: plainFieldManager } as const

/** A name for a container that none of the pod has. */
function newName(host: Host, pod: Pod, { quiet }: DebugFlags): string {
  const taken = containerNames(pod)
  let name = `debugger-${suffix(host)}`
  while (taken.includes(name)) name = `debugger-${suffix(host)}`
  if (quiet !== true) host.stdout.write(`Defaulting debug container name to ${name}.\n`)
  return name
}

const suffixLength = 5

const suffix = ({ environment: { random } }: Host): string => random.string(suffixLength, nameAlphabet)

/** Rights that only root has are of no use where the pod says that its containers are not. */
function warnOfRights(host: Host, { spec }: Pod, name: string): void {
  const { containers, ephemeralContainers = [] } = spec
  const { securityContext } = [...containers, ...ephemeralContainers].find((each) => each.name === name) ?? {}
  if ((spec.securityContext?.runAsUser ?? 0) === 0 || securityContext === undefined) return
  const { runAsUser, privileged, capabilities } = securityContext
  if (runAsUser === 0 || (privileged !== true && (capabilities?.add ?? []).length === 0)) return
  host.stderr.write(
    'Warning: Non-root user is configured for the entire target Pod, and some capabilities granted by debug profile may not work. Please consider using "--custom" with a custom profile that specifies "securityContext.runAsUser: 0".\n',
  )
}

/** Connects the terminal here to a container as soon as it runs; of one that has ended already shows what it wrote. */
async function attachWhenRunning(
  host: Host,
  session: Session,
  pod: Pod,
  container: string,
  flags: DebugFlags,
): Promise<void> {
  const { name = '', namespace = '' } = pod.metadata
  const resource = (await session.catalog()).find('pods')
  let latest = pod
  let told: string | undefined
  await awaitObject(host, session, { resource, key: { name, namespace } }, 0, (object) => {
    if (object === undefined) throw new CliError(`pod ${name} was deleted before container ${container} ran`)
    latest = object as Pod
    const { running, terminated, waiting } = stateOf(latest, container)
    const { message } = waiting ?? {}
    if (message !== undefined && message !== told && flags.quiet !== true) {
      told = message
      host.stderr.write(`Warning: container ${container}: ${message}\n`)
    }
    return running !== undefined || terminated !== undefined
  })
  if (stateOf(latest, container).terminated === undefined) {
    try {
      await attachTo(host, session, latest, container, flags)
      return
    } catch (error) {
      if (error instanceof InterruptedError) throw error
      const why = error instanceof Error ? error.message : String(error)
      host.stderr.write(`warning: couldn't attach to pod/${name}, falling back to streaming logs: ${why}\n`)
    }
  }
  const log = await session.client.stream(pods, { name, namespace }, 'log', { container })
  for await (const piece of log) {
    host.stdout.write(piece)
    await host.stdout.drained()
  }
}

function stateOf({ status = {} }: Pod, container: string) {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  return all.find(({ name }) => name === container)?.state ?? {}
}

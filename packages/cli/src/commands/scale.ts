import { hasReason, type KubernetesObject } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { plainFieldManager } from '../manifests/field-managers.ts'
import { pause } from '../pause.ts'
import { throwLate } from '../refused-value.ts'
import type { Session } from '../session.ts'
import { awaitObject } from './await-object.ts'
import { noteChangeCause } from './change-cause.ts'
import { type ChangeFlags, changeObjects } from './change-objects.ts'
import type { Target } from './targets.ts'

export interface ScaleFlags extends ChangeFlags {
  readonly replicas?: number
  /** Nothing is changed unless the object asks for this many now. */
  readonly currentReplicas?: number
  /** Nothing is changed unless the object is of this version. */
  readonly resourceVersion?: string
  /** How long to wait until the status has as many; `0s`: not at all. */
  readonly timeout: string
}

/** What every kind that can be scaled answers under `scale`. */
interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas?: number }
}

/** `coracle scale --replicas=COUNT TYPE NAME`, and `resize`, its old name */
export async function scale(host: Host, args: readonly string[], flags: ScaleFlags): Promise<void> {
  const { replicas } = flags
  if (replicas === undefined) throw new CliError('required flag(s) "replicas" not set')
  throwLate(flags, 'dryRun')
  if (replicas < 0) {
    throw new CliError('The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0')
  }
  if ((flags.currentReplicas ?? -1) < -1) {
    throw new CliError('The --current-replicas must specify an integer of -1 or greater')
  }
  const timeoutMs = parseDuration(flags.timeout)
  await changeObjects(
    host,
    args,
    'scale',
    { ...flags, filesAsTheyAre: true, stopsAtFirst: true, needsObjects: 'scale' },
    async (session, target) => {
      const object = await scaleOne(host, session, target, replicas, flags)
      if (flags.dryRun === 'none') await noteChangeCause(session, target, flags, plainFieldManager)
      if (timeoutMs > 0 && flags.dryRun === 'none') await untilScaled(host, session, target, replicas, timeoutMs)
      return { verb: 'scaled', object }
    },
    ({ length }) => {
      if (flags.resourceVersion === undefined || length <= 1) return
      throw new CliError('cannot use --resource-version with multiple resources')
    },
  )
}

/** How often, and for how long, what others have changed in between is tried again, as by kubectl. */
const retryMs = 1_000
const retriesMax = 300

async function scaleOne(
  host: Host,
  session: Session,
  target: Target,
  replicas: number,
  flags: ScaleFlags,
): Promise<KubernetesObject> {
  if (flags.dryRun === 'client') return withReplicas(target, replicas)
  for (let retries = 0; ; retries++) {
    try {
      const { spec = {} } = await writeScale(session, target, replicas, flags)
      return withReplicas(target, spec.replicas ?? 0)
    } catch (error) {
      if (!hasReason(error, 'Conflict') || retries === retriesMax) throw error
      await pause(host, retryMs)
    }
  }
}

/** What the server makes of it. */
async function writeScale(
  { client }: Session,
  { resource, key }: Target,
  replicas: number,
  { currentReplicas, resourceVersion, dryRun }: ScaleFlags,
): Promise<Scale> {
  const options = { subresource: 'scale', fieldManager: plainFieldManager, dryRun: dryRun === 'server' }
  const isConditional = (currentReplicas ?? -1) >= 0 || resourceVersion !== undefined
  if (!isConditional) return client.patch(resource, key, { type: 'merge', body: { spec: { replicas } } }, options)
  const current = await client.get<Scale>(resource, key, { subresource: 'scale' })
  checkPreconditions(current, currentReplicas, resourceVersion)
  // The version goes with the update: what changes in between is a conflict, and nothing is written.
  return client.update(resource, { ...current, spec: { ...current.spec, replicas } } as KubernetesObject, options)
}

/** Throws a CliError that says what was found instead of what was expected. */
function checkPreconditions(
  { spec = {}, metadata }: Scale,
  currentReplicas: number | undefined,
  resourceVersion: string | undefined,
): void {
  const { replicas = 0 } = spec
  if (currentReplicas !== undefined && currentReplicas >= 0 && replicas !== currentReplicas) {
    throw new CliError(`Expected replicas to be ${currentReplicas}, was ${replicas}`)
  }
  if (resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion) {
    throw new CliError(`Expected resource version to be ${resourceVersion}, was ${metadata.resourceVersion}`)
  }
}

/** The object as it is scaled; of kinds of others as it was: only they know where they have their replicas. */
function withReplicas({ resource, object }: Target, replicas: number): KubernetesObject {
  if (resource.group !== '' && resource.group !== 'apps') return object
  return { ...object, ...{ spec: { ...(object as Scale).spec, replicas } } }
}

/** Resolves when the object has as many replicas as it was asked to have, or somebody else asks it to have others. */
async function untilScaled(
  host: Host,
  session: Session,
  target: Target,
  replicas: number,
  timeoutMs: number,
): Promise<void> {
  const { resource, key } = target
  const isScaled = async () => {
    const { spec = {}, status = {} } = await session.client.get<Scale>(resource, key, { subresource: 'scale' })
    return (spec.replicas ?? 0) !== replicas || (status.replicas ?? 0) === replicas
  }
  const isDone = await awaitObject(host, session, target, timeoutMs, isScaled)
  if (!isDone) throw new CliError(`timed out waiting for ${JSON.stringify(key.name)} to be synced`)
}

import { hasReason, type Pod, pods, type ReplicationController, replicationControllers } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../../cli-error.ts'
import { controlledBy } from '../../describe/controlled-by.ts'
import type { Host } from '../../host.ts'
import { loadManifests, type ManifestFlags } from '../../manifests/load-manifests.ts'
import { placeObject } from '../../manifests/place-object.ts'
import { dryRunText, type OutcomeFlags, OutcomePrinter } from '../../output/outcome-printer.ts'
import { pause } from '../../pause.ts'
import { listAll } from '../../resources/fetch.ts'
import { selectorText } from '../../resources/selector-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../../session.ts'
import { waitUntilGone } from '../await-deletion.ts'
import { annotations, controllerOfFile, controllerOfImage, notedCount, ownHash } from './controllers.ts'
import { nextStep, type Step, type UpdateState } from './plan.ts'

export interface RollingUpdateFlags extends ConnectionFlags, ManifestFlags, OutcomeFlags {
  readonly image?: string
  readonly container?: string
  readonly imagePullPolicy?: string
  readonly deploymentLabelKey: string
  /** Between one pod and the next. */
  readonly updatePeriod: string
  /** Between one look and the next. */
  readonly pollInterval: string
  /** How long a step may take. */
  readonly timeout: string
  /** Goes back to the old controller. */
  readonly rollback?: boolean
}

const fieldManager = 'coracle-rolling-update'

/** How often a write is tried again that came between the writes of others. */
const conflictsMax = 20

/** What an update works with. */
interface Update {
  readonly host: Host
  readonly session: Session
  readonly flags: RollingUpdateFlags
  readonly updatePeriodMs: number
  readonly pollIntervalMs: number
  readonly timeoutMs: number
}

/** `coracle rolling-update NAME -f FILE`, `coracle rolling-update NAME [NEW_NAME] --image=IMAGE` */
export async function rollingUpdate(host: Host, args: readonly string[], flags: RollingUpdateFlags): Promise<void> {
  const [oldName, newName] = checkArguments(args, flags)
  const times = {
    updatePeriodMs: parseDuration(flags.updatePeriod),
    pollIntervalMs: parseDuration(flags.pollInterval),
    timeoutMs: parseDuration(flags.timeout),
  }
  if (times.pollIntervalMs <= 0 || times.timeoutMs <= 0) {
    throw new CliError('--poll-interval and --timeout must be above zero')
  }
  const made = await controllerInFiles(host, flags)
  host.stderr.write('Note: Deployments are updated by the server itself: coracle rollout\n')
  await withSession(host, flags, async (session) => {
    const update: Update = { host, session, flags, ...times }
    const done = made === undefined ? undefined : await finished(session, oldName, made.controller)
    if (done !== undefined) return printUpdated(host, session, flags, done)
    const old = await getController(session, oldName)
    const wanted = made === undefined ? imageSuccessor(old, newName, flags) : fileSuccessor(session, old, made)
    const keepsName = made === undefined && newName === undefined
    if (flags.rollback === true) return rollBack(update, old, wanted)
    if (flags.dryRun !== 'none') return tell(host, old, wanted, flags)
    const resumed = old.metadata.annotations?.[annotations.successor]
    if (keepsName && resumed !== undefined) await becomeSuccessor(update, oldName)
    else await roll(update, old, wanted, keepsName)
    const final = await getController(session, keepsName ? oldName : (wanted.metadata.name ?? ''))
    await printUpdated(host, session, flags, final)
  })
}

async function printUpdated(
  host: Host,
  session: Session,
  flags: RollingUpdateFlags,
  object: ReplicationController,
): Promise<void> {
  const resource = (await session.catalog()).find('replicationcontrollers')
  const printer = await OutcomePrinter.for(host, flags)
  await printer.print(resource, { verb: 'rolling updated', object })
}

/** The new controller where an earlier run has come to the end and the old one is gone; it may not have lived to say so. */
async function finished(
  session: Session,
  oldName: string,
  { metadata }: ReplicationController,
): Promise<ReplicationController | undefined> {
  if ((await findController(session, oldName)) !== undefined) return undefined
  const next = await findController(session, metadata.name ?? '')
  return next?.metadata.annotations?.[annotations.partner] === oldName ? next : undefined
}

function checkArguments(args: readonly string[], flags: RollingUpdateFlags): readonly [string, string | undefined] {
  const [oldName, newName, ...more] = args
  if (oldName === undefined) throw new CliError('Must specify the controller to update')
  if (more.length > 0) throw new CliError(`too many arguments: ${more.join(' ')}`)
  if (flags.filename.length > 1) throw new CliError('May only specify a single filename for new controller')
  if (flags.image === undefined && flags.filename.length === 0) {
    if (flags.rollback !== true || newName === undefined) throw new CliError('Must specify a filename or new image')
  }
  if (flags.image !== undefined && flags.filename.length > 0) {
    throw new CliError("Image and filename can't both be specified")
  }
  if (newName === oldName) throw new CliError('the new controller must have another name')
  if (flags.filename.length > 0 && newName !== undefined) {
    throw new CliError('the name of the new controller is that in the file')
  }
  return [oldName.replace(/^(rc|replicationcontrollers?)\//, ''), newName]
}

async function controllerInFiles(host: Host, flags: RollingUpdateFlags): Promise<SourcedController | undefined> {
  const manifests = await loadManifests(host, flags)
  const [first, ...others] = manifests
  if (first === undefined) return undefined
  if (others.length > 0 || first.object.kind !== 'ReplicationController') {
    throw new CliError(`${first.source} does not specify a valid ReplicationController, and nothing else`)
  }
  return { controller: first.object as ReplicationController, source: first.source }
}

interface SourcedController {
  readonly controller: ReplicationController
  readonly source: string
}

function fileSuccessor(session: Session, old: ReplicationController, { controller, source }: SourcedController) {
  const placed = placeObject(controller, replicationControllers, session) as ReplicationController
  return controllerOfFile(old, placed, source)
}

function imageSuccessor(
  old: ReplicationController,
  name: string | undefined,
  { image, container, imagePullPolicy, deploymentLabelKey, rollback }: RollingUpdateFlags,
): ReplicationController {
  // To go back, a name is enough: the controller is there.
  if (image === undefined && rollback === true) return { ...old, metadata: { ...old.metadata, name: name ?? '' } }
  return controllerOfImage(old, {
    image: image ?? '',
    labelKey: deploymentLabelKey,
    ...(container === undefined ? {} : { container }),
    ...(imagePullPolicy === undefined ? {} : { pullPolicy: imagePullPolicy }),
    ...(name === undefined ? {} : { name }),
  })
}

/** Prints what would be done. */
function tell(host: Host, old: ReplicationController, wanted: ReplicationController, { dryRun }: RollingUpdateFlags) {
  const settled = (replicas: number) => ({ replicas, current: replicas, ready: replicas })
  const original = old.spec.replicas ?? 1
  const desired = wanted.spec.replicas ?? original
  const names = { old: old.metadata.name ?? '', next: wanted.metadata.name ?? '' }
  let state: UpdateState = { old: settled(original), next: settled(Math.min(1, desired)), original, desired }
  const lines = [`Created ${names.next}`]
  for (let step = nextStep(state); step.type === 'scale'; step = nextStep(state)) {
    lines.push(stepText(step, names))
    state = { ...state, [step.controller]: settled(step.replicas) }
  }
  lines.push(`Update succeeded. Deleting old controller: ${names.old}`)
  host.stdout.write(lines.map((line) => `${line}${dryRunText[dryRun]}\n`).join(''))
}

type ScaleStep = Extract<Step, { readonly type: 'scale' }>

const stepText = (
  { controller, replicas }: ScaleStep,
  names: { readonly old: string; readonly next: string },
): string => `Scaling ${names[controller]} ${controller === 'old' ? 'down' : 'up'} to ${replicas}`

/** Brings the new controller up and the old one down, from wherever they are. */
async function roll(
  update: Update,
  old: ReplicationController,
  wanted: ReplicationController,
  keepsName: boolean,
): Promise<void> {
  const { host, session } = update
  const names = { old: old.metadata.name ?? '', next: wanted.metadata.name ?? '' }
  const present = await findController(session, names.next)
  if (present !== undefined) {
    if (present.metadata.annotations?.[annotations.partner] !== names.old) {
      throw new CliError(`replicationcontroller ${names.next} is there already, and not from an update of ${names.old}`)
    }
    host.stdout.write(`Found existing update in progress (${names.next}), resuming.\n`)
  } else await begin(update, old, wanted)
  await advance(update, names)
  if (keepsName) return succeed(update, names)
  host.stdout.write(`Update succeeded. Deleting old controller: ${names.old}\n`)
  await removeController(update, names.old, 'Background')
}

/** Notes how many there were, gives the old pods a label where they need one, and creates the new controller with one pod. */
async function begin(update: Update, old: ReplicationController, wanted: ReplicationController): Promise<void> {
  const { host, session, flags } = update
  const name = old.metadata.name ?? ''
  if (flags.image !== undefined) await labelPods(update, name)
  const noted = await change(session, name, (controller) => {
    const { metadata, spec } = controller
    const original = metadata.annotations?.[annotations.original] ?? String(spec.replicas ?? 1)
    return {
      ...controller,
      metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.original]: original } },
    }
  })
  const original = notedCount(noted, annotations.original) ?? 1
  const desired = wanted.spec.replicas ?? original
  const { metadata, spec } = wanted
  const { client } = session
  const created = await client.create(
    replicationControllers,
    {
      ...wanted,
      metadata: {
        ...metadata,
        annotations: {
          ...metadata.annotations,
          [annotations.desired]: String(desired),
          [annotations.partner]: name,
        },
      },
      spec: { ...spec, replicas: Math.min(1, desired) },
    },
    { fieldManager },
  )
  host.stdout.write(`Created ${created.metadata.name}\n`)
}

/**
 * Gives the pods of a controller, its template and its selector a label that those of its successor have with another
 * value. Each step may be done again.
 */
async function labelPods({ session, flags }: Update, name: string): Promise<void> {
  const { client } = session
  const { deploymentLabelKey: key } = flags
  const before = await getController(session, name)
  if (before.spec.selector?.[key] !== undefined) return
  const value = ownHash(before, key)
  const labelled = await change(session, name, (controller) => {
    const { template } = controller.spec
    if (template === undefined) return controller
    const labels = { ...template.metadata?.labels, [key]: value }
    return {
      ...controller,
      spec: { ...controller.spec, template: { ...template, metadata: { ...template.metadata, labels } } },
    }
  })
  for (;;) {
    const { namespace = '' } = labelled.metadata
    const selected = (await listAll(client, pods, {
      namespace,
      labelSelector: `${selectorText(labelled) ?? ''},!${key}`,
    })) as readonly Pod[]
    const unlabelled = controlledBy(labelled, selected)
    if (unlabelled.length === 0) break
    for (const { metadata } of unlabelled) {
      const patch = { type: 'merge' as const, body: { metadata: { labels: { [key]: value } } } }
      try {
        await client.patch(pods, { namespace, name: metadata.name ?? '' }, patch, { fieldManager })
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
  }
  await change(session, name, (controller) => ({
    ...controller,
    spec: { ...controller.spec, selector: { ...controller.spec.selector, [key]: value } },
  }))
}

/** Takes step after step until the new controller has all its pods and the old one none. */
async function advance(update: Update, names: { readonly old: string; readonly next: string }): Promise<void> {
  const { host, session, updatePeriodMs, pollIntervalMs, timeoutMs } = update
  const { clock } = host.environment
  let since = clock.now()
  for (;;) {
    const [old, next] = await Promise.all([getController(session, names.old), getController(session, names.next)])
    const original = notedCount(old, annotations.original) ?? old.spec.replicas ?? 1
    const desired = notedCount(next, annotations.desired) ?? original
    const step = nextStep({ old: stateOf(old), next: stateOf(next), original, desired })
    if (step.type === 'finish') return
    if (step.type === 'wait') {
      if (clock.now() - since >= timeoutMs) {
        throw new CliError(
          `timed out waiting for ${names.old} and ${names.next}: both stay as they are, and the same command goes on from there`,
        )
      }
      await pause(host, pollIntervalMs)
      continue
    }
    host.stdout.write(`${stepText(step, names)}\n`)
    await change(session, names[step.controller], (controller) => ({
      ...controller,
      spec: { ...controller.spec, replicas: step.replicas },
    }))
    // The next pod has its time; then what it does is looked at.
    if (step.controller === 'old') await pause(host, updatePeriodMs)
    since = clock.now()
  }
}

/** What a controller says of the spec that it has now; nothing is ready that it has not seen. */
function stateOf({ metadata, spec, status }: ReplicationController) {
  const replicas = spec.replicas ?? 1
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  if (!isSeen) return { replicas, current: Number.POSITIVE_INFINITY, ready: 0 }
  return { replicas, current: status?.replicas ?? 0, ready: status?.readyReplicas ?? 0 }
}

/**
 * Has the old controller, which keeps its name, become what the new one is. What it is to be is noted on it first, so
 * that a run which is broken off between the two leaves nothing that cannot be finished.
 */
async function succeed(update: Update, names: { readonly old: string; readonly next: string }): Promise<void> {
  const { session } = update
  const next = await getController(session, names.next)
  const desired = notedCount(next, annotations.desired) ?? next.spec.replicas ?? 1
  const successor = JSON.stringify({ name: names.next, spec: { ...next.spec, replicas: desired } })
  await change(session, names.old, (controller) => {
    const { metadata } = controller
    return {
      ...controller,
      metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.successor]: successor } },
    }
  })
  await becomeSuccessor(update, names.old)
}

async function becomeSuccessor(update: Update, name: string): Promise<void> {
  const { host, session } = update
  const old = await getController(session, name)
  const text = old.metadata.annotations?.[annotations.successor] ?? '{}'
  const successor = JSON.parse(text) as { readonly name: string; readonly spec: ReplicationController['spec'] }
  host.stdout.write(`Renaming ${successor.name} to ${name}\n`)
  // Its pods stay, and are adopted by the controller that selects them from now on.
  await removeController(update, successor.name, 'Orphan')
  await change(session, name, (controller) => {
    const { metadata } = controller
    const { [annotations.successor]: _, [annotations.original]: __, ...kept } = metadata.annotations ?? {}
    return { ...controller, metadata: { ...metadata, annotations: kept }, spec: successor.spec }
  })
}

/** Goes back: the old controller gets what it had, and the new one goes. */
async function rollBack(update: Update, old: ReplicationController, wanted: ReplicationController): Promise<void> {
  const { host, session, flags } = update
  const names = { old: old.metadata.name ?? '', next: wanted.metadata.name ?? '' }
  const next = await getController(session, names.next)
  const original = notedCount(old, annotations.original) ?? old.spec.replicas ?? 1
  if (flags.dryRun !== 'none') {
    host.stdout.write(`Setting "${names.old}" replicas to ${original}${dryRunText[flags.dryRun]}\n`)
    return
  }
  host.stdout.write(`Setting "${names.old}" replicas to ${original}\n`)
  await change(session, names.old, (controller) => withNote(controller, annotations.desired, String(original)))
  await change(session, names.next, (controller) =>
    withNote(controller, annotations.original, String(next.spec.replicas ?? 1)),
  )
  // The two change places.
  await advance(update, { old: names.next, next: names.old })
  await removeController(update, names.next, 'Background')
  const final = await change(session, names.old, (controller) => {
    const { [annotations.desired]: _, [annotations.original]: __, ...kept } = controller.metadata.annotations ?? {}
    return { ...controller, metadata: { ...controller.metadata, annotations: kept } }
  })
  await printUpdated(host, session, flags, final)
}

const withNote = (controller: ReplicationController, annotation: string, value: string): ReplicationController => ({
  ...controller,
  metadata: {
    ...controller.metadata,
    annotations: {
      ...controller.metadata.annotations,
      [annotation]: controller.metadata.annotations?.[annotation] ?? value,
    },
  },
})

const keyIn = ({ namespace }: Session, name: string) => ({ namespace, name })

const getController = (session: Session, name: string): Promise<ReplicationController> =>
  session.client.get<ReplicationController>(replicationControllers, keyIn(session, name))

async function findController(session: Session, name: string): Promise<ReplicationController | undefined> {
  try {
    return await getController(session, name)
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** Reads, changes and writes a controller; again where somebody else has written in between. */
async function change(
  session: Session,
  name: string,
  make: (controller: ReplicationController) => ReplicationController,
): Promise<ReplicationController> {
  for (let tries = 1; ; tries++) {
    const controller = await getController(session, name)
    try {
      return await session.client.update(replicationControllers, make(controller), { fieldManager })
    } catch (error) {
      if (!hasReason(error, 'Conflict') || tries >= conflictsMax) throw error
    }
  }
}

async function removeController(
  { host, session, timeoutMs }: Update,
  name: string,
  propagationPolicy: 'Background' | 'Orphan',
): Promise<void> {
  const resource = (await session.catalog()).find('replicationcontrollers')
  try {
    await session.client.delete(resource, keyIn(session, name), { propagationPolicy })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return
    throw error
  }
  await waitUntilGone(host, session, [{ resource, key: keyIn(session, name), uid: undefined }], timeoutMs)
}

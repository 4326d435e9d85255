import { type ReplicationController, replicationControllers } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { loadManifests } from '../../manifests/load-manifests.ts'
import { placeObject } from '../../manifests/place-object.ts'
import { dryRunText, OutcomePrinter } from '../../output/outcome-printer.ts'
import { type Session, withSession } from '../../session.ts'
import { stepText } from './advance.ts'
import { annotations, controllerOfFile, controllerOfImage } from './controllers.ts'
import { nextStep, type UpdateState } from './plan.ts'
import { becomeSuccessor, roll } from './roll.ts'
import { rollBack } from './roll-back.ts'
import { findController, getController, type RollingUpdateFlags, type Update } from './update.ts'

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
    if (flags.rollback === true) {
      const restored = await rollBack(update, old, wanted)
      return restored === undefined ? undefined : printUpdated(host, session, flags, restored)
    }
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

import { type ReplicationController, replicationControllers } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import { advance } from './advance.ts'
import { annotations, notedCount } from './controllers.ts'
import { labelPods } from './label-pods.ts'
import { change, fieldManager, findController, getController, removeController, type Update } from './update.ts'

/** Brings the new controller up and the old one down, from wherever they are. */
export async function roll(
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

/** Finishes what `succeed` has noted. */
export async function becomeSuccessor(update: Update, name: string): Promise<void> {
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

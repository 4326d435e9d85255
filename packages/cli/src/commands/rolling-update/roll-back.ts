import type { ReplicationController } from '@coracle/api'
import { dryRunText } from '../../output/outcome-printer.ts'
import { advance } from './advance.ts'
import { annotations, notedCount } from './controllers.ts'
import { change, getController, removeController, type Update } from './update.ts'

/** Goes back: the old controller gets what it had, and the new one goes. Resolves to the old one; undefined where nothing is to be done but to say so. */
export async function rollBack(
  update: Update,
  old: ReplicationController,
  wanted: ReplicationController,
): Promise<ReplicationController | undefined> {
  const { host, session, flags } = update
  const names = { old: old.metadata.name ?? '', next: wanted.metadata.name ?? '' }
  const next = await getController(session, names.next)
  const original = notedCount(old, annotations.original) ?? old.spec.replicas ?? 1
  if (flags.dryRun !== 'none') {
    host.stdout.write(`Setting "${names.old}" replicas to ${original}${dryRunText[flags.dryRun]}\n`)
    return undefined
  }
  host.stdout.write(`Setting "${names.old}" replicas to ${original}\n`)
  await change(session, names.old, (controller) => withNote(controller, annotations.desired, String(original)))
  await change(session, names.next, (controller) =>
    withNote(controller, annotations.original, String((old.spec.replicas ?? 1) + (next.spec.replicas ?? 1))),
  )
  // The two change places; together they keep as many as there are now, until the old one is whole.
  await advance(update, { old: names.next, next: names.old })
  await removeController(update, names.next, 'Background')
  return change(session, names.old, (controller) => {
    const { [annotations.desired]: _, [annotations.original]: __, ...kept } = controller.metadata.annotations ?? {}
    return { ...controller, metadata: { ...controller.metadata, annotations: kept } }
  })
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

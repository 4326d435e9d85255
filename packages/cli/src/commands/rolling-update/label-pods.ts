import { hasReason, type Pod, pods } from '@coracle/api'
import { controlledBy } from '../../describe/controlled-by.ts'
import { listAll } from '../../resources/fetch.ts'
import { selectorText } from '../../resources/selector-text.ts'
import { ownHash } from './controllers.ts'
import { change, fieldManager, getController, type Update } from './update.ts'

/**
 * Gives the pods of a controller, its template and its selector a label that those of its successor have with another
 * value. Each step may be done again.
 */
export async function labelPods({ session, flags }: Update, name: string): Promise<void> {
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

import { type PodTemplateSpec, replicaSets } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import { Description } from '../../describe/description.ts'
import { describePodTemplate } from '../../describe/pod-template.ts'
import type { Host } from '../../host.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import { alignTabs, descriptionAlignment } from '../../output/align.ts'
import { inDeclaredOrder } from '../../output/declared-order.ts'
import { escapeControls } from '../../output/escape-controls.ts'
import { type Found, ObjectPrinter } from '../../output/object-printer.ts'
import { readGivenFormat, readOutputFormat } from '../../output/output-format.ts'
import { objectText } from '../../resources/object-text.ts'
import { type ConnectionFlags, withSession } from '../../session.ts'
import { changeCauseAnnotation } from '../change-cause.ts'
import { findTargets, forEachTarget, type Target, type TargetFlags } from '../targets.ts'
import { type Revision, revisionsOf } from './revisions.ts'

export interface RolloutHistoryFlags extends ConnectionFlags, TargetFlags {
  /** The revision to show in detail; 0: all, a line each. */
  readonly revision: number
  readonly output?: string
  readonly template?: string
  readonly showManagedFields?: boolean
  readonly allowMissingTemplateKeys: boolean
}

/** `coracle rollout history TYPE NAME` */
export async function rolloutHistory(host: Host, args: readonly string[], flags: RolloutHistoryFlags): Promise<void> {
  const { revision } = flags
  if (revision < 0) throw new CliError(`revision must be a positive integer: ${revision}`)
  if (args.length === 0 && !hasFiles(flags)) throw new CliError('required resource not specified')
  const style = {
    managedFields: flags.showManagedFields === true,
    requireKeys: !flags.allowMissingTemplateKeys,
    order: inDeclaredOrder,
  }
  await withSession(host, flags, async (session) => {
    const targets = await findTargets(host, session, args, 'show', { ...flags, typesMeanAll: true, typed: true })
    const format = await readGivenFormat(host, flags)
    let printer: ObjectPrinter | undefined
    await forEachTarget(targets, async (target) => {
      const revisions = await revisionsOf(session, target, 'history')
      const wanted = revision === 0 ? revisions : revisions.filter(({ number }) => number === BigInt(revision))
      const isListed = format === undefined || format.type === 'table'
      const isEmpty = isListed && revisions.length === 0
      if (revision > 0 && wanted.length === 0 && !isEmpty) throw new CliError('unable to find the specified revision')
      if (!isListed) {
        printer ??= new ObjectPrinter(format, style)
        for (const revision of wanted) host.stdout.write(await printer.one(foundOf(target, revision)))
        return
      }
      const { resource, object } = target
      const shown = await readOutputFormat(host, { template: flags.template ?? '' }, { tables: false })
      if (shown !== undefined && shown.type !== 'table') {
        // A template alone is for the object itself.
        host.stdout.write(await new ObjectPrinter(shown, style).one({ resource, object }))
        return
      }
      const name = objectText(resource, target.key.name)
      const text =
        revision === 0
          ? `\n${historyText(revisions)}`
          : `with revision #${revision}\n${revisions.length === 0 ? noHistory : wanted.map((each) => templateText(templateOf(target, each))).join('')}`
      host.stdout.write(`${name} ${text}\n`)
    })
  })
}

/** A revision as an object: the ReplicaSet that keeps it, or else the object itself as it was then. */
function foundOf({ resource, object }: Target, { keeper, template }: Revision): Found {
  if (resource.kind === 'Deployment') {
    const { kind, plural } = replicaSets
    return {
      resource: { ...resource, kind, plural, singular: kind.toLowerCase() } as DiscoveredResource,
      object: keeper,
    }
  }
  const { spec = {} } = object as { readonly spec?: object }
  return { resource, object: { ...object, ...{ spec: { ...spec, template } } } }
}

const noHistory = 'No rollout history found.'

function historyText(revisions: readonly Revision[]): string {
  if (revisions.length === 0) return noHistory
  const lines = revisions.map(
    ({ number, annotations }) => `${number}\t${escapeControls(annotations[changeCauseAnnotation] || '<none>')}\n`,
  )
  return alignTabs(`REVISION\tCHANGE-CAUSE\n${lines.join('')}`, descriptionAlignment)
}

/** The template of a revision: of a Deployment with why it was changed, where that was noted. */
function templateOf({ resource }: Target, { template, annotations }: Revision): PodTemplateSpec {
  const cause = annotations[changeCauseAnnotation]
  if (resource.kind !== 'Deployment' || cause === undefined || cause === '') return template
  const { metadata } = template
  return {
    ...template,
    metadata: { ...metadata, annotations: { ...metadata?.annotations, [changeCauseAnnotation]: cause } },
  }
}

/** A template of pods in detail, its cells parted by tabs as kubectl leaves them here. */
export function templateText(template: PodTemplateSpec): string {
  const text = new Description()
  describePodTemplate(text, template)
  return text.withTabs()
}

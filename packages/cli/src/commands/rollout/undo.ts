import type { KubernetesObject, PodTemplateSpec } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import { plainFieldManager } from '../../manifests/field-managers.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import type { Session } from '../../session.ts'
import { type ChangeFlags, changeObjects } from '../change-objects.ts'
import type { Target } from '../targets.ts'
import { templateText } from './history.ts'
import { findRevision, isSameTemplate, type Revision, revisionsOf, withoutHash } from './revisions.ts'

export interface RolloutUndoFlags extends ChangeFlags {
  /** The revision to go back to; 0: the one before. */
  readonly toRevision: number
}

/** `coracle rollout undo TYPE NAME` */
export async function rolloutUndo(host: Host, args: readonly string[], flags: RolloutUndoFlags): Promise<void> {
  const { toRevision, dryRun } = flags
  if (args.length === 0 && !hasFiles(flags)) throw new CliError('required resource not specified')
  await changeObjects(
    host,
    args,
    'undo',
    { ...flags, typesMeanAll: true, typed: true, looksAtOutputLate: true, hasDeclaredOrder: true, startsAnew: true },
    async (session, target) => {
      const { object, resource } = target
      const { name } = target.key
      if (object.metadata.annotations?.[lastAppliedAnnotation] !== undefined)
        host.stderr.write(appliedWarning(`${resource.plural}/${name}`))
      const isDeployment = target.resource.kind === 'Deployment'
      const none = isDeployment
        ? `no rollout history found for deployment ${JSON.stringify(name)}`
        : 'no last revision to roll back to'
      const revision = findRevision(await revisionsOf(session, target, 'rollbacker'), toRevision, none)
      if (dryRun === 'client') {
        const text = templateText(revision.template)
        return { verb: isDeployment ? text : `will roll back to ${text}`, object }
      }
      if (isDeployment && specOf(object).paused === true) {
        throw new CliError(
          `you cannot rollback a paused deployment; resume it first with 'coracle rollout resume' and try again`,
        )
      }
      const { template } = specOf(object)
      if (template !== undefined && isSameTemplate(revision.template, template)) {
        return { verb: `skipped rollback (current template already matches revision ${toRevision})`, object }
      }
      await rollBack(session, target, revision, toRevision, dryRun === 'server')
      // As with kubectl, `-o` shows what it was.
      return { verb: 'rolled back', object }
    },
  )
}

/** What is rolled back stays as it was applied in the eyes of the next apply (kubectl 1.36). */
const appliedWarning = (object: string): string =>
  `Warning: resource ${object} was previously managed with 'coracle apply'. Rolling back will not update the ${lastAppliedAnnotation} annotation, which may cause unexpected behavior on future 'coracle apply' operations. Consider using 'coracle apply' with your previous configuration file instead.\n`

function specOf(object: KubernetesObject): { readonly paused?: boolean; readonly template?: PodTemplateSpec } {
  return (object as { readonly spec?: object }).spec ?? {}
}

/** Puts the template of the revision in place of the present one; of a Deployment, its annotations too. */
function rollBack(
  { client }: Session,
  { resource, key, object }: Target,
  revision: Revision,
  toRevision: number,
  dryRun: boolean,
): Promise<unknown> {
  const options = { fieldManager: plainFieldManager, dryRun }
  if (resource.kind !== 'Deployment') {
    const body = { spec: { template: { ...revision.template, $patch: 'replace' } } }
    return client.patch(resource, key, { type: 'strategic', body }, options)
  }
  const body = [
    { op: 'replace', path: '/spec/template', value: withoutHash(revision.template) },
    { op: 'replace', path: '/metadata/annotations', value: annotationsAfter(object, revision) },
  ]
  return client.patch(resource, key, { type: 'json', body }, options).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error
    throw new CliError(`failed restoring revision ${toRevision}: ${error.message}`, { cause: error })
  })
}

/** What a Deployment says of itself, and does not take over from a ReplicaSet. */
const ownAnnotations = new Set([
  lastAppliedAnnotation,
  'deployment.kubernetes.io/revision',
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
])

function annotationsAfter({ metadata }: KubernetesObject, { annotations }: Revision): Readonly<Record<string, string>> {
  const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => ownAnnotations.has(name))
  const old = Object.entries(annotations).filter(([name]) => !ownAnnotations.has(name))
  return Object.fromEntries([...own, ...old])
}

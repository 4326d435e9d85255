import { apiVersionOf, type KubernetesObject } from '@coracle/api'
import type { DeleteOptions, DiscoveredResource } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import type { OutcomePrinter } from '../../output/outcome-printer.ts'
import { listAll } from '../../resources/fetch.ts'
import type { Session } from '../../session.ts'
import type { Done } from '../manifest-command.ts'
import { keyOf } from '../targets.ts'

/** Kinds whose objects are pruned unless said otherwise, as `GROUP/VERSION/KIND` (kubectl's util/prune). */
const prunedKinds = [
  'core/v1/ConfigMap',
  'core/v1/Endpoints',
  'core/v1/PersistentVolumeClaim',
  'core/v1/Pod',
  'core/v1/ReplicationController',
  'core/v1/Secret',
  'core/v1/Service',
  'batch/v1/Job',
  'batch/v1/CronJob',
  'networking.k8s.io/v1/Ingress',
  'apps/v1/DaemonSet',
  'apps/v1/Deployment',
  'apps/v1/ReplicaSet',
  'apps/v1/StatefulSet',
  'core/v1/Namespace',
  'core/v1/PersistentVolume',
]

/**
 * The resources whose objects may be pruned, `GROUP/VERSION/KIND`; the usual ones where none is named. Rejects with a CliError at the first
 * that has not that form, or that the server does not have.
 */
export async function prunedResources(
  session: Session,
  allowlist: readonly string[],
): Promise<readonly DiscoveredResource[]> {
  const texts = allowlist.length === 0 ? prunedKinds : allowlist
  checkKind(texts[0] ?? '')
  const catalog = await session.catalog()
  return texts.map((text) => {
    checkKind(text)
    const [group = '', version = '', kind = ''] = text.split('/')
    const apiVersion = apiVersionOf({ group: group === 'core' ? '' : group, version })
    const resource = catalog.ofKind(apiVersion, kind)
    if (resource === undefined) throw new CliError(`no matches for kind "${kind}" in version "${apiVersion}"`)
    return resource
  })
}

/** Throws a CliError where a text does not have the form of GROUP/VERSION/KIND. */
function checkKind(text: string): void {
  if (text.split('/').length === 3) return
  throw new CliError(`invalid GroupVersionKind format: ${text}, please follow <group/version/kind>`)
}

/** An object that was applied, and is in the files no more. */
export interface Leftover {
  readonly resource: DiscoveredResource
  readonly object: KubernetesObject
}

/**
 * What was applied before and is in the files no more: of these resources, in the namespaces that the files reach, what the
 * selector means and what says of itself that it was applied.
 */
export async function* leftovers(
  { client }: Session,
  resources: readonly DiscoveredResource[],
  files: readonly Done[],
  selector: string | undefined,
): AsyncGenerator<Leftover> {
  const kept = new Set(files.map(({ object }) => object.metadata.uid))
  const namespaces = new Set(files.flatMap(({ object: { metadata } }) => metadata.namespace ?? []))
  const places = [
    ...[...namespaces].flatMap((namespace) =>
      resources.filter(({ namespaced }) => namespaced).map((resource) => ({ resource, namespace })),
    ),
    ...resources.filter(({ namespaced }) => !namespaced).map((resource) => ({ resource })),
  ]
  for (const { resource, ...scope } of places) {
    const objects = await listAll(client, resource, {
      ...scope,
      ...(selector === undefined ? {} : { labelSelector: selector }),
    })
    yield* objects.filter((object) => isLeft(object, kept)).map((object) => ({ resource, object }))
  }
}

export interface PruneOptions {
  readonly selector: string | undefined
  /** Nothing is deleted; what would be is told. */
  readonly local: boolean
  readonly deleteOptions: DeleteOptions
}

/** Deletes what was applied before and is in the files no more, and says so. */
export async function prune(
  session: Session,
  resources: readonly DiscoveredResource[],
  done: readonly Done[],
  printer: OutcomePrinter,
  { selector, local, deleteOptions }: PruneOptions,
): Promise<void> {
  for await (const { resource, object } of leftovers(session, resources, done, selector)) {
    if (!local) await session.client.delete(resource, keyOf(object), deleteOptions)
    await printer.print(resource, { verb: 'pruned', object })
  }
}

/** Whether an object was applied, and is none of those that were now. */
const isLeft = ({ metadata }: KubernetesObject, kept: ReadonlySet<string | undefined>): boolean =>
  metadata.annotations?.[lastAppliedAnnotation] !== undefined && !kept.has(metadata.uid)

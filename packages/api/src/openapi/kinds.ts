/** Which schemas a document needs: the kinds themselves, their lists, and what every API exchanges. */

import { compareText } from '../compare-text.ts'
import { tokenRequestSchema } from '../kinds/authentication/token-request.ts'
import { scaleSchema } from '../kinds/autoscaling/scale.ts'
import { bindingSchema } from '../kinds/core/binding.ts'
import { deleteOptionsSchema } from '../kinds/meta/delete-options.ts'
import { statusSchema } from '../kinds/meta/status.ts'
import { watchEventSchema } from '../kinds/meta/watch-event.ts'
import { evictionSchema } from '../kinds/policy/eviction.ts'
import { listSchema } from '../meta.ts'
import type { ResourceDefinition } from '../resource.ts'
import { object } from '../schema/builders.ts'
import type { GroupVersionKind, KindSchema } from './definitions.ts'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** Names of definitions that operations refer to. */
export const commonDefinitions = {
  status: `${meta}.Status`,
  deleteOptions: `${meta}.DeleteOptions`,
  watchEvent: `${meta}.WatchEvent`,
  patch: `${meta}.Patch`,
} as const

/** Kinds that are exchanged but not stored. */
export const exchangedKinds: readonly KindSchema[] = [
  { schema: statusSchema, kinds: [{ group: '', version: 'v1', kind: 'Status' }] },
  { schema: deleteOptionsSchema, kinds: [{ group: '', version: 'v1', kind: 'DeleteOptions' }] },
  { schema: watchEventSchema, kinds: [{ group: '', version: 'v1', kind: 'WatchEvent' }] },
  { schema: scaleSchema, kinds: [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }] },
  { schema: bindingSchema, kinds: [{ group: '', version: 'v1', kind: 'Binding' }] },
  { schema: evictionSchema, kinds: [{ group: 'policy', version: 'v1', kind: 'Eviction' }] },
  { schema: tokenRequestSchema, kinds: [{ group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }] },
]

/** What a PATCH request carries. */
export const patchBody = object(
  commonDefinitions.patch,
  'A change of an object, in the form that Content-Type names.',
  {},
)

/** The schemas of these resources, each with its list kind. */
export function resourceKinds(definitions: readonly ResourceDefinition[]): readonly KindSchema[] {
  return definitions.flatMap(({ group, version, kind, listKind, plural, schema, verbs }) => {
    const own: KindSchema = { schema, kinds: [{ group, version, kind }] }
    if (!verbs.includes('list')) return [own]
    const list = listSchema(listDefinitionName(schema.name, kind, listKind), schema, plural)
    return [own, { schema: list, kinds: [{ group, version, kind: listKind }] }]
  })
}

/** `io.k8s.api.core.v1.PodList` beside `io.k8s.api.core.v1.Pod`. */
export function listDefinitionName(name: string, kind: string, listKind: string): string {
  return name.endsWith(`.${kind}`) ? `${name.slice(0, -kind.length)}${listKind}` : `${name}List`
}

/** Groups and versions that upstream's programs know (1.36), most of which are served no more, or not yet. */
const knownGroupVersions = `admission.k8s.io/v1 admission.k8s.io/v1beta1 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1alpha1 admissionregistration.k8s.io/v1beta1 apiextensions.k8s.io/v1 apiextensions.k8s.io/v1beta1
apiregistration.k8s.io/v1 apiregistration.k8s.io/v1beta1 apps/v1 apps/v1beta1 apps/v1beta2 authentication.k8s.io/v1
authentication.k8s.io/v1alpha1 authentication.k8s.io/v1beta1 authorization.k8s.io/v1 authorization.k8s.io/v1beta1 autoscaling/v1
autoscaling/v2 batch/v1 batch/v1beta1 certificates.k8s.io/v1 certificates.k8s.io/v1alpha1 certificates.k8s.io/v1beta1
coordination.k8s.io/v1 coordination.k8s.io/v1alpha2 coordination.k8s.io/v1beta1 discovery.k8s.io/v1 discovery.k8s.io/v1beta1
events.k8s.io/v1 events.k8s.io/v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1beta1
flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3 imagepolicy.k8s.io/v1alpha1
internal.apiserver.k8s.io/v1alpha1 networking.k8s.io/v1 networking.k8s.io/v1beta1 node.k8s.io/v1 node.k8s.io/v1alpha1
node.k8s.io/v1beta1 policy/v1 policy/v1beta1 rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1alpha1
rbac.authorization.k8s.io/v1beta1 resource.k8s.io/v1 resource.k8s.io/v1alpha3 resource.k8s.io/v1beta1 resource.k8s.io/v1beta2
scheduling.k8s.io/v1 scheduling.k8s.io/v1alpha2 scheduling.k8s.io/v1beta1 storage.k8s.io/v1 storage.k8s.io/v1alpha1
storage.k8s.io/v1beta1 storagemigration.k8s.io/v1beta1`.split(/\s+/)

/**
 * WatchEvent and DeleteOptions belong to every group and version that upstream's programs know, and to others that are built in. Those of
 * custom kinds are left out, as upstream's are: a document would change with each of them.
 */
export function inEveryGroup(kind: string, definitions: readonly ResourceDefinition[]): readonly GroupVersionKind[] {
  return [...new Set([...knownGroupVersions, ...groupVersionsOf(definitions)])].sort(compareText).map((text) => {
    const [group = '', version = ''] = text.split('/')
    return { group, version, kind }
  })
}

/** The groups and versions that are built in, such as `apps/v1` and `/v1`, in alphabetical order. */
export function groupVersionsOf(definitions: readonly ResourceDefinition[]): readonly string[] {
  const builtIn = definitions.filter(({ schema }) => schema.dialect !== 'structural')
  return [...new Set(['/v1', ...builtIn.map(({ group, version }) => `${group}/${version}`)])].sort(compareText)
}

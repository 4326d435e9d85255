import type { PodReference } from '@coracle/api'
import { readFieldSelector } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { Authorizer, RequestAttributes } from '../request.ts'
import { nodeLeaseNamespace, nodeOf } from './node-identity.ts'
import { NodeReferences } from './node-references.ts'
import { events, rulesOf } from './rbac/policy/rule-lines.ts'
import { accessOf, RoleRules } from './rbac/role-rules.ts'

type ResourceAttributes = Extract<RequestAttributes, { readonly kind: 'resource' }>

/**
 * What a node agent may do: upstream's Node authorizer (plugin/pkg/auth/authorizer/node). It reads what its own pods name and
 * nothing else of that kind; where the name of what it writes is only known with the body, the NodeRestriction admission
 * plugin has the last word. Whoever is no node agent is refused without a reason: others may allow it.
 */
export function createNodeAuthorizer(registries: Registries): Authorizer {
  const references = new NodeReferences(registries)
  return {
    refuse(user, attributes) {
      const node = nodeOf(user)
      if (node === undefined) return ''
      if (node === '') return `unknown node for user ${JSON.stringify(user.name)}`
      if (attributes.kind === 'path') return ''
      const { group, plural } = attributes.resource
      const judge = Object.hasOwn(judges, `${plural}.${group}`) ? judges[`${plural}.${group}`] : undefined
      if (judge !== undefined) return judge(node, attributes, references)
      return sameForAll.allow(accessOf(attributes)) ? undefined : ''
    },
    rulesFor(user) {
      const rules = { resources: [], paths: [] }
      if (nodeOf(user) === undefined) return rules
      return { ...rules, incomplete: 'node authorizer does not support user rule resolution' }
    },
  }
}

/** What all nodes may do alike: of bootstrappolicy's NodeRules those that do not hang on a node's pods. */
const sameForAll = new RoleRules(
  rulesOf([
    'create authentication.k8s.io tokenreviews',
    'create authorization.k8s.io subjectaccessreviews,localsubjectaccessreviews',
    events,
    'read,create certificates.k8s.io certificatesigningrequests',
    'read core services',
    'read certificates.k8s.io clustertrustbundles',
    'read node.k8s.io runtimeclasses',
    'read storage.k8s.io csidrivers',
    'get core endpoints',
  ]),
)

/** Undefined where it is allowed, else why not. */
type Judge = (node: string, attributes: ResourceAttributes, references: NodeReferences) => string | undefined

const judges: Readonly<Record<string, Judge>> = {
  'secrets.': readOf('secrets'),
  'configmaps.': readOf('configmaps'),
  'persistentvolumeclaims.': judgeClaim,
  'persistentvolumes.': judgeVolume,
  'volumeattachments.storage.k8s.io': judgeAttachment,
  'csinodes.storage.k8s.io': judgeCsiNode,
  'serviceaccounts.': judgeServiceAccount,
  'pods.': judgePod,
  'nodes.': judgeNode,
  'leases.coordination.k8s.io': judgeLease,
  'resourceclaims.resource.k8s.io': judgeResourceClaim,
  'resourceslices.resource.k8s.io': judgeResourceSlice,
}

const reads = ['get', 'list', 'watch']

function readOf(plural: 'configmaps' | 'secrets' | 'serviceaccounts'): Judge {
  return (node, attributes, references) => {
    if (!reads.includes(attributes.verb)) return 'can only read resources of this type'
    if (attributes.subresource !== '') return 'cannot read subresource'
    if (attributes.namespace === '') return 'can only read namespaced object of this type'
    const { namespace, name } = attributes
    if (plural === 'secrets' && references.hasVolumeSecret(node, namespace, name)) return undefined
    return judgeReference(node, plural, attributes, references)
  }
}

function judgeReference(
  node: string,
  plural: PodReference['plural'],
  { namespace, name }: ResourceAttributes,
  references: NodeReferences,
): string | undefined {
  if (name === '') return 'No Object name found'
  return references.has(node, plural, namespace, name) ? undefined : unrelated(node)
}

const unrelated = (node: string): string => `no relationship found between node '${node}' and this object`

function judgeClaim(node: string, attributes: ResourceAttributes, references: NodeReferences): string | undefined {
  const { verb, subresource } = attributes
  if (subresource === 'status') {
    if (verb !== 'update' && verb !== 'patch') return 'can only get/update/patch this type'
  } else if (verb !== 'get') return 'can only get individual resources of this type'
  else if (subresource !== '') return 'cannot get subresource'
  return judgeReference(node, 'persistentvolumeclaims', attributes, references)
}

function judgeVolume(node: string, attributes: ResourceAttributes, references: NodeReferences): string | undefined {
  return judgeGet(node, attributes, (name) => references.hasVolume(node, name))
}

function judgeAttachment(node: string, attributes: ResourceAttributes, references: NodeReferences): string | undefined {
  return judgeGet(node, attributes, (name) => references.nodeOfAttachment(name) === node)
}

function judgeGet(
  node: string,
  { verb, subresource, name }: ResourceAttributes,
  isItsOwn: (name: string) => boolean,
): string | undefined {
  if (verb !== 'get') return 'can only get individual resources of this type'
  if (subresource !== '') return 'cannot get subresource'
  if (name === '') return 'No Object name found'
  return isItsOwn(name) ? undefined : unrelated(node)
}

function judgeServiceAccount(
  node: string,
  attributes: ResourceAttributes,
  references: NodeReferences,
): string | undefined {
  const { verb, name, subresource } = attributes
  if (verb === 'get' && subresource === '') return readAccount(node, attributes, references)
  if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts'
  if (subresource !== 'token') return 'can only create token subresource of serviceaccount'
  return judgeReference(node, 'serviceaccounts', attributes, references)
}

/** Registries' credentials may depend on the account of a pod. */
const readAccount = readOf('serviceaccounts')

function judgePod(node: string, attributes: ResourceAttributes, references: NodeReferences): string | undefined {
  const { verb, subresource, namespace, name, fieldSelector = '' } = attributes
  const isOwn = (): boolean => references.nodeOfPod(namespace, name) === node
  switch (subresource) {
    case '':
      if (verb === 'create' || verb === 'delete') return undefined
      if (!reads.includes(verb)) return ''
      if (verb !== 'get' && selectsNode(fieldSelector, node)) return undefined
      if (verb !== 'get' && name === '') return 'can only list/watch pods with spec.nodeName field selector'
      return isOwn() ? undefined : unrelated(node)
    case 'status':
      return verb === 'update' || verb === 'patch' ? undefined : ''
    case 'eviction':
      return verb === 'create' ? undefined : ''
    default:
      return ''
  }
}

/** Whether only what is on the node is selected. A selector that cannot be read selects nothing. */
function selectsNode(fieldSelector: string, node: string): boolean {
  const terms = readFieldSelector(fieldSelector)?.terms ?? []
  return terms.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node)
}

function judgeNode(node: string, { verb, subresource, name }: ResourceAttributes): string | undefined {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? undefined : ''
  if (subresource !== '') return ''
  if (verb === 'create' || verb === 'update' || verb === 'patch') return undefined
  if (!reads.includes(verb)) return ''
  if (name === node) return undefined
  return name === ''
    ? `node '${node}' cannot read all nodes, only its own Node object`
    : `node '${node}' cannot read '${name}', only its own Node object`
}

function judgeLease(node: string, { verb, namespace, name }: ResourceAttributes): string | undefined {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb)) {
    return 'can only get, create, update, patch, or delete a node lease'
  }
  if (namespace !== nodeLeaseNamespace) {
    return `can only access leases in the ${JSON.stringify(nodeLeaseNamespace)} system namespace`
  }
  // The name of what is created is in the body.
  if (verb !== 'create' && name !== node) {
    return 'can only access node lease with the same name as the requesting node'
  }
  return undefined
}

function judgeCsiNode(node: string, { verb, subresource, name }: ResourceAttributes): string | undefined {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb)) {
    return 'can only get, create, update, patch, or delete a CSINode'
  }
  if (subresource !== '') return 'cannot authorize CSINode subresources'
  // The name of what is created is in the body.
  if (verb !== 'create' && name !== node) return 'can only access CSINode with the same name as the requesting node'
  return undefined
}

function judgeResourceClaim(
  node: string,
  attributes: ResourceAttributes,
  references: NodeReferences,
): string | undefined {
  const { namespace } = attributes
  return judgeGet(node, attributes, (name) => references.has(node, 'resourceclaims', namespace, name))
}

/** Slices of the node alone. Of what is created the admission plugin sees the node, in the body. */
function judgeResourceSlice(
  node: string,
  { verb, subresource, name, fieldSelector = '' }: ResourceAttributes,
  references: NodeReferences,
): string | undefined {
  if (subresource !== '') return 'cannot authorize ResourceSlice subresources'
  switch (verb) {
    case 'create':
      return undefined
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      if (name === '') return 'No Object name found'
      return references.nodeOfSlice(name) === node ? undefined : unrelated(node)
    case 'list':
    case 'watch':
    case 'deletecollection':
      if (selectsNode(fieldSelector, node)) return undefined
      return 'can only list/watch/deletecollection resourceslices with spec.nodeName field selector'
    default:
      return 'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection'
  }
}

import {
  type CertificateSigningRequest,
  deepEqual,
  type KubernetesObject,
  type Node,
  nodeClientSigner,
  nodeServingSigner,
  notFound,
  type PersistentVolumeClaim,
  type Pod,
  parseCertificateRequest,
  podReferences,
  type ResourceSlice,
  type TokenRequest,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { Authorizer } from '../request.ts'
import { mirrorAnnotation, nodeLeaseNamespace, nodeOf } from '../security/node-identity.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { findAudience } from './token-audiences.ts'

/**
 * Keeps a node agent to its own node, lease and pods, and from labels and taints by which it could draw pods to itself
 * (upstream's NodeRestriction, plugin/pkg/admission/noderestriction).
 */
export function nodeRestriction(registries: Registries, authorizer: Authorizer): AdmissionPlugin {
  const refusalOf = (attributes: AdmissionAttributes, object: KubernetesObject | undefined): string | undefined => {
    const node = nodeOf(attributes.context.user)
    if (node === undefined) return undefined
    if (node === '') return `could not determine node from user ${JSON.stringify(attributes.context.user.name)}`
    const { group, plural } = attributes.definition
    const judge = Object.hasOwn(judges, `${plural}.${group}`) ? judges[`${plural}.${group}`] : undefined
    return judge?.({ node, attributes, object, registries, authorizer })
  }
  const check = (attributes: AdmissionAttributes, object: KubernetesObject | undefined): void => {
    const why = refusalOf(attributes, object)
    if (why !== undefined) throw forbiddenByAdmission(attributes, object, why)
  }
  return {
    name: 'NodeRestriction',
    mutate(attributes, object) {
      check(attributes, object)
      return object
    },
  }
}

interface Question {
  readonly node: string
  readonly attributes: AdmissionAttributes
  /** As the request has it; undefined for deletes. */
  readonly object: KubernetesObject | undefined
  readonly registries: Registries
  readonly authorizer: Authorizer
}

/** Undefined where it is admitted, else why not. */
type Judge = (question: Question) => string | undefined

const judges: Readonly<Record<string, Judge>> = {
  'pods.': judgePod,
  'nodes.': judgeNode,
  'serviceaccounts.': judgeServiceAccount,
  'persistentvolumeclaims.': judgeClaim,
  'leases.coordination.k8s.io': judgeLease,
  'csinodes.storage.k8s.io': judgeCsiNode,
  'certificatesigningrequests.certificates.k8s.io': judgeCertificateRequest,
  'resourceslices.resource.k8s.io': judgeResourceSlice,
}

function judgePod(question: Question): string | undefined {
  const { subresource } = question.attributes
  if (subresource === '') return judgeWholePod(question)
  if (subresource === 'status') return judgePodStatus(question)
  if (subresource === 'eviction') return judgeEviction(question)
  return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`
}

function judgeWholePod({ node, attributes, object, registries }: Question): string | undefined {
  const { operation, old } = attributes
  if (operation === 'CREATE') return judgeMirrorPod(node, object as Pod, registries)
  if (operation !== 'DELETE') {
    return `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`
  }
  const isOwn = (old as Pod).spec.nodeName === node
  return isOwn ? undefined : `node ${quote(node)} can only delete pods with spec.nodeName set to itself`
}

/** The only pods a node makes are mirrors of what it was told to run in another way, and those name nothing of the API. */
function judgeMirrorPod(node: string, pod: Pod, registries: Registries): string | undefined {
  const { annotations = {}, ownerReferences = [] } = pod.metadata
  const who = `node ${quote(node)}`
  if (!Object.hasOwn(annotations, mirrorAnnotation)) {
    return `pod does not have ${quote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`
  }
  if (pod.spec.nodeName !== node) return `${who} can only create pods with spec.nodeName set to itself`
  const [owner, ...others] = ownerReferences
  if (others.length > 0) return `${who} can only create pods with a single owner reference set to itself`
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${who} can only create pods with an owner reference set to itself`
  }
  if (owner.controller !== true) return `${who} can only create pods with a controller owner reference set to itself`
  if (owner.blockOwnerDeletion === true) return `${who} must not set blockOwnerDeletion on an owner reference`
  const uid = registries.byResource('', 'v1', 'nodes')?.peek('', node)?.object.metadata.uid
  if (uid === undefined) throw notFound({ group: '', plural: 'nodes' }, node)
  if (owner.uid !== uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`
  const [reference] = podReferences(pod)
  if (reference !== undefined) {
    const named = reference.plural === 'serviceaccounts' ? 'a service account' : reference.plural
    return `${who} can not create pods that reference ${named}`
  }
  const sources = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined)) {
    return `${who} can not create pods that reference clustertrustbundles`
  }
  return undefined
}

function judgePodStatus({ node, attributes, object }: Question): string | undefined {
  const { operation, old } = attributes
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`
  const [before, after] = [old as Pod, object as Pod]
  if (before.spec.nodeName !== node) {
    return `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`
  }
  if (modifiedLabels(after.metadata.labels, before.metadata.labels).length > 0) {
    return `node ${quote(node)} cannot update labels through pod status`
  }
  if (!deepEqual(before.status?.resourceClaimStatuses ?? [], after.status?.resourceClaimStatuses ?? [])) {
    return `node ${quote(node)} cannot update resource claim statues`
  }
  // The node may read what is named here.
  if (!deepEqual(before.status?.extendedResourceClaimStatus, after.status?.extendedResourceClaimStatus)) {
    return `node ${quote(node)} cannot update extended resource claim status`
  }
  return undefined
}

function judgeEviction({ node, attributes, object, registries }: Question): string | undefined {
  if (attributes.operation !== 'CREATE') return `unexpected operation ${attributes.operation}`
  const name = attributes.name || object?.metadata.name || ''
  if (name === '') return 'could not determine pod from request data'
  const isOwn = podIn(registries, attributes.namespace, name).spec.nodeName === node
  return isOwn ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`
}

function judgeNode({ node, attributes, object }: Question): string | undefined {
  const { operation, name, old } = attributes
  if (name !== node) return `node ${quote(node)} is not allowed to modify node ${quote(name)}`
  if (operation === 'DELETE') return undefined
  const [before, after] = [old as Node | undefined, object as Node]
  const source = after.spec?.configSource
  if (operation === 'CREATE') {
    if (source !== undefined) return `node ${quote(node)} is not allowed to create pods with a non-nil configSource`
    const labels = forbiddenLabels(after.metadata.labels, undefined)
    if (labels.length === 0) return undefined
    return `node ${quote(node)} is not allowed to set the following labels: ${labels.join(', ')}`
  }
  if (source !== undefined && !deepEqual(source, before?.spec?.configSource)) {
    return `node ${quote(node)} is not allowed to update configSource to a new non-nil configSource`
  }
  if (!deepEqual(after.spec?.taints ?? [], before?.spec?.taints ?? [])) {
    return `node ${quote(node)} is not allowed to modify taints`
  }
  // An owner that is not there would have the garbage collector delete the node, which it could then create anew without its taints.
  if (!deepEqual(after.metadata.ownerReferences ?? [], before?.metadata.ownerReferences ?? [])) {
    return `node ${quote(node)} is not allowed to modify ownerReferences`
  }
  const labels = forbiddenLabels(after.metadata.labels, before?.metadata.labels)
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`
}

/** Tokens for a node are bound to a pod that is on it, and end with that pod. */
function judgeServiceAccount(question: Question): string | undefined {
  const { node, attributes, object, registries } = question
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return undefined
  const { spec } = object as TokenRequest
  const { apiVersion, kind, name = '', uid = '' } = spec.boundObjectRef ?? {}
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') return 'node requested token not bound to a pod'
  if (uid === '') return 'node requested token with a pod binding without a uid'
  const pod = podIn(registries, attributes.namespace, name)
  if (pod.metadata.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
  }
  if (pod.spec.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node'
  return judgeAudiences(question, spec.audiences, pod)
}

/** A node gets tokens for whom its pods have tokens in volumes, and for whom a role lets it (ServiceAccountNodeAudienceRestriction). */
function judgeAudiences(
  { attributes: { context, namespace, name }, registries, authorizer }: Question,
  audiences: readonly string[],
  pod: Pod,
): string | undefined {
  const [audience = '', ...others] = audiences
  if (others.length > 0) return 'node may only request 0 or 1 audiences'
  const { isFound, problems } = findAudience(audience, pod, registries)
  if (isFound) return undefined
  if (problems.length > 0) {
    const why = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`
    return `error validating audience ${quote(audience)}: ${why}`
  }
  const resource = { group: '', version: 'v1', kind: '', plural: audience, namespaced: true }
  const verb = 'request-serviceaccounts-token-audience'
  const refusal = authorizer.refuse(context.user, {
    kind: 'resource',
    verb,
    resource,
    subresource: '',
    namespace,
    name,
  })
  if (refusal === undefined) return undefined
  return `audience ${quote(audience)} not found in pod spec volume, ${context.user.name} is not authorized to request tokens for this audience`
}

/** What a node says of a claim is how large its volume has become, and nothing else. */
function judgeClaim({ node, attributes, object }: Question): string | undefined {
  if (attributes.subresource !== 'status') return 'may only update PVC status'
  if (attributes.operation !== 'UPDATE') return `unexpected operation ${quote(attributes.operation)}`
  const [before, after] = [attributes.old, object].map((each) => withoutSize(each as PersistentVolumeClaim))
  if (deepEqual(before, after)) return undefined
  return `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions`
}

function withoutSize({ metadata, status = {}, ...rest }: PersistentVolumeClaim): object {
  const { resourceVersion: _version, managedFields: _owners, ...others } = metadata
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources,
    allocatedResourceStatuses,
    ...kept
  } = status
  return { ...rest, metadata: others, status: kept }
}

function judgeLease({ node, attributes }: Question): string | undefined {
  if (attributes.namespace !== nodeLeaseNamespace) {
    return `can only access leases in the ${quote(nodeLeaseNamespace)} system namespace`
  }
  return attributes.name === node ? undefined : 'can only access node lease with the same name as the requesting node'
}

function judgeCsiNode({ node, attributes, object }: Question): string | undefined {
  const name = attributes.operation === 'CREATE' ? object?.metadata.name : attributes.name
  return name === node ? undefined : 'can only access CSINode with the same name as the requesting node'
}

function judgeResourceSlice({ node, attributes, object }: Question): string | undefined {
  const { operation, old } = attributes
  const slice = (operation === 'CREATE' ? object : old) as ResourceSlice | undefined
  // A collection is deleted slice by slice, and the request for it has none yet.
  if (slice === undefined || slice.spec.nodeName === node) return undefined
  const verb = operation.toLowerCase()
  return `can only ${verb} ResourceSlice with the same NodeName as the requesting node`
}

/** A node asks for certificates for itself alone. */
function judgeCertificateRequest({ node, attributes, object }: Question): string | undefined {
  if (attributes.operation !== 'CREATE') return undefined
  const { spec } = object as CertificateSigningRequest
  if (spec.signerName !== nodeServingSigner && spec.signerName !== nodeClientSigner) return undefined
  let commonName: string
  try {
    commonName = parseCertificateRequest(Buffer.from(spec.request, 'base64').toString('latin1')).subject.commonName
  } catch (error) {
    return `unable to parse csr: ${error instanceof Error ? error.message : error}`
  }
  const wanted = `system:node:${node}`
  return commonName === wanted ? undefined : `can only create a node CSR with CN=${wanted}`
}

function podIn(registries: Registries, namespace: string, name: string): Pod {
  const pod = registries.byResource('', 'v1', 'pods')?.peek(namespace, name)?.object
  if (pod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  return pod as Pod
}

type Labels = Readonly<Record<string, string>>

/** The labels that one has and the other has not, or has with another value. */
function modifiedLabels(after: Labels = {}, before: Labels = {}): readonly string[] {
  const keys = new Set([...Object.keys(after), ...Object.keys(before)])
  return [...keys].filter((key) => after[key] !== before[key]).sort()
}

const forbiddenLabels = (after: Labels | undefined, before: Labels | undefined): readonly string[] =>
  modifiedLabels(after, before).filter((label) => !mayLabel(label))

/** Labels of Kubernetes that node agents set on their own node (kubelet/pkg/apis). */
const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])

/** Whether a node may give itself a label: any that is not Kubernetes' own, and of those some. */
function mayLabel(label: string): boolean {
  const slash = label.indexOf('/')
  const prefix = slash < 0 ? '' : label.slice(0, slash)
  if (isWithin(prefix, 'node-restriction.kubernetes.io')) return false
  if (!isWithin(prefix, 'kubernetes.io') && !isWithin(prefix, 'k8s.io')) return true
  if (kubeletLabels.has(label)) return true
  return isWithin(prefix, 'kubelet.kubernetes.io') || isWithin(prefix, 'node.kubernetes.io')
}

const isWithin = (prefix: string, domain: string): boolean => prefix === domain || prefix.endsWith(`.${domain}`)

const quote = (text: string): string => JSON.stringify(text)

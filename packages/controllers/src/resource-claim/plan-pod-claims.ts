import {
  canBeReserved,
  claimNameOfPod,
  consumerOf,
  isClaimOfPod,
  isReservedFor,
  type Pod,
  type PodResourceClaim,
  type PodStatus,
  podClaimNameAnnotation,
  pods,
  type ResourceClaim,
  type ResourceClaimTemplate,
  resourceClaims,
} from '@coracle/api'
import { type Action, controllerRef, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

/** What is known of the claims of a pod's namespace. */
export interface ClaimLookup {
  claim(name: string): ResourceClaim | undefined
  template(name: string): ResourceClaimTemplate | undefined
  /** The claims that the pod owns. */
  readonly owned: readonly ResourceClaim[]
}

/**
 * Makes claims of a pod from templates, and notes in its status which they are; once a claim is there the pod is looked at again. For a pod
 * that has got its node without a scheduler it reserves claims that have devices. Pure.
 */
export function planPodClaims(pod: Pod, lookup: ClaimLookup): Plan<PodStatus> {
  if (isBeingDeleted(pod) || isFinished(pod)) return { actions: [] }
  const made: { readonly name: string; readonly resourceClaimName: string }[] = []
  const actions: Action[] = []
  for (const podClaim of pod.spec.resourceClaims ?? []) {
    const { name, resourceClaimTemplateName: templateName } = podClaim
    if (templateName === undefined || isThere(pod, podClaim, lookup)) continue
    // It may have been made, and not noted.
    const found = lookup.owned.find(({ metadata }) => metadata.annotations?.[podClaimNameAnnotation] === name)
    if (found !== undefined) {
      made.push({ name, resourceClaimName: found.metadata.name ?? '' })
      continue
    }
    const template = lookup.template(templateName)
    if (template === undefined)
      return { actions: [...actions, ...noted(pod, made), missingTemplate(name, templateName)] }
    actions.push(creation(pod, name, template))
  }
  return { actions: [...actions, ...noted(pod, made), ...reservations(pod, lookup)] }
}

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** Whether there is nothing to be made: no claim is needed, or it is there. One that was deleted by mistake is made again. */
function isThere(pod: Pod, podClaim: PodResourceClaim, lookup: ClaimLookup): boolean {
  const known = claimNameOfPod(pod, podClaim)
  if (known === 'none') return true
  if (known === 'not-made') return false
  const claim = lookup.claim(known.name)
  return claim !== undefined && isClaimOfPod(claim, pod)
}

function missingTemplate(podClaimName: string, templateName: string): Action {
  const template = JSON.stringify(templateName)
  const because = `resource claim template ${template}: resourceclaimtemplate.resource.k8s.io ${template} not found`
  const message = `PodResourceClaim ${podClaimName}: ${because}`
  return { type: 'event', eventType: 'Warning', reason: 'FailedResourceClaimCreation', message, because }
}

/** Room for a hyphen and five letters in a name of 63. */
const namePrefixMax = 57

/** The names of pod and claim; both are cut in proportion where they are too long together. */
function namePrefix(podName: string, claimName: string): string {
  const whole = `${podName}-${claimName}-`
  if (whole.length <= namePrefixMax) return whole
  const cut = (text: string, total: number) => text.slice(0, Math.floor((text.length * namePrefixMax) / total))
  const first = cut(podName, whole.length)
  return `${first}-${cut(claimName, whole.length)}`
}

function creation(pod: Pod, podClaimName: string, { spec: template }: ResourceClaimTemplate): Action {
  const { name = '', namespace } = pod.metadata
  const object: ResourceClaim = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: namePrefix(name, podClaimName),
      namespace,
      labels: template.metadata?.labels,
      annotations: { ...template.metadata?.annotations, [podClaimNameAnnotation]: podClaimName },
      ownerReferences: [controllerRef(pod)],
    },
    spec: template.spec,
  }
  const message = `PodResourceClaim ${podClaimName}: create ResourceClaim : {error}`
  return {
    type: 'create',
    resource: resourceClaims,
    object,
    because: `pod ${name} has no claim for ${podClaimName}`,
    events: { failed: { reason: 'FailedResourceClaimCreation', message } },
  }
}

function noted(pod: Pod, made: readonly { readonly name: string; readonly resourceClaimName: string }[]): Action[] {
  if (made.length === 0) return []
  const { name = '', namespace = '', uid } = pod.metadata
  const body = { metadata: { uid }, status: { resourceClaimStatuses: made } }
  const because = `claims were made for ${made.map((each) => each.name).join(', ')}`
  const key = { namespace, name }
  return [{ type: 'patch', resource: pods, key, patch: { type: 'strategic', body }, subresource: 'status', because }]
}

/** The scheduler reserves claims for the pods that it places. */
function reservations(pod: Pod, lookup: ClaimLookup): readonly Action[] {
  if (!pod.spec.nodeName) return []
  return (pod.spec.resourceClaims ?? []).flatMap((podClaim): readonly Action[] => {
    const known = claimNameOfPod(pod, podClaim)
    const claim = typeof known === 'string' ? undefined : lookup.claim(known.name)
    if (claim?.status?.allocation === undefined || isReservedFor(claim, pod) || !canBeReserved(claim)) return []
    if (isBeingDeleted(claim) || (typeof known !== 'string' && known.mustBeOwned && !isClaimOfPod(claim, pod)))
      return []
    const reservedFor = [...(claim.status.reservedFor ?? []), consumerOf(pod)]
    const object = { ...claim, status: { ...claim.status, reservedFor } }
    const because = `pod ${pod.metadata.name} runs on ${pod.spec.nodeName} and uses the claim`
    return [{ type: 'update', resource: resourceClaims, object, subresource: 'status', because }]
  })
}

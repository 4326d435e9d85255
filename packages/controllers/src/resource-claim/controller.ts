import {
  hasReason,
  type Pod,
  pods,
  type ResourceClaim,
  type ResourceClaimTemplate,
  resourceClaimFinalizer,
  resourceClaims,
  resourceClaimTemplates,
} from '@coracle/api'
import { type IndexFunction, keyOf, keyText, objectKeyOf } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  type Lookup,
  performPlan,
  type ReconcileContext,
  removeFinalizer,
} from '@coracle/controller-runtime'
import { performUnlessGoing } from '../namespace/perform-unless-going.ts'
import { podsByResourceClaim, resourceClaimIndexName } from '../pods/by-resource-claim.ts'

const templateIndexName = 'resource claim template'

const byTemplate: IndexFunction<Pod> = (pod) =>
  (pod.spec.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name === undefined ? [] : [keyText(pod.metadata.namespace, name)],
  )

const hasClaims = ({ object }: Change<Pod>): boolean => (object.spec.resourceClaims?.length ?? 0) > 0

/** Makes claims for pods that name templates: https://kep.k8s.io/4381. */
export function createPodClaimController(): Controller {
  return controller('resource-claim-templates', { component: 'resource_claim' })
    .for(pods, {
      indexes: { [resourceClaimIndexName]: podsByResourceClaim, [templateIndexName]: byTemplate },
      predicates: [hasClaims],
    })
    .owns(resourceClaims)
    .watches(resourceClaims, (claim, lookup: Lookup) => keysBy(lookup, resourceClaimIndexName, claim))
    .watches(resourceClaimTemplates, (template, lookup: Lookup) => keysBy(lookup, templateIndexName, template), {
      predicates: [({ type }) => type === 'add'],
    })
    .reconcile(async ({ object: pod, namespace }, context) => {
      if (pod === undefined) return undefined
      const claims = context.informer(resourceClaims)
      const { planPodClaims } = await context.clock.hold(import('./plan-pod-claims.ts'))
      const plan = planPodClaims(pod, {
        claim: (name) => claims.get(keyText(namespace, name)),
        template: (name) => context.informer(resourceClaimTemplates).get(keyText(namespace, name)),
        owned: context.owned(resourceClaims),
      })
      return performUnlessGoing(context, pod, plan)
    })
}

function keysBy(lookup: Lookup, index: string, object: ResourceClaim | ResourceClaimTemplate): readonly string[] {
  return lookup.informer(pods).byIndex(index, keyOf(object)).map(keyOf)
}

/** Takes claims back from pods that do not use them any more, and devices from claims that nobody uses. */
export function createResourceClaimController(): Controller {
  return controller('resource-claim-controller', { component: 'resource_claim' })
    .for(resourceClaims)
    .watches(pods, (pod) => podsByResourceClaim(pod))
    .reconcile(async ({ object: claim, namespace = '' }, context) => {
      if (claim === undefined) return undefined
      const names = [...(claim.status?.reservedFor ?? []), ...(claim.metadata.ownerReferences ?? [])].map(
        ({ name }) => name,
      )
      const found = await podsNamed([...new Set(names)], namespace, context)
      const { planRelease } = await context.clock.hold(import('./plan-release.ts'))
      const release = planRelease(claim, (name) => found.get(name))
      const { status, because, removesFinalizer, isDeleted } = release
      let latest = claim
      if (status !== undefined) {
        const released = { ...claim, status }
        latest = await context.client.update(resourceClaims, released, { subresource: 'status', because })
      }
      // In the version that was just written: the scheduler may give the claim devices again at any time, and holds it before it does.
      if (removesFinalizer)
        await removeFinalizer(context.client, resourceClaims, latest, resourceClaimFinalizer, because)
      if (!isDeleted) return undefined
      const key = objectKeyOf(claim)
      const deletion = { type: 'delete', resource: resourceClaims, key, because, ...uidOf(claim) } as const
      return performPlan(context, claim, { actions: [deletion] })
    })
}

const uidOf = ({ metadata: { uid } }: ResourceClaim) => (uid === undefined ? {} : { uid })

/** Pods by name. The cache may not know of one yet: what it does not know is asked of the server. */
async function podsNamed(
  names: readonly string[],
  namespace: string,
  context: ReconcileContext<ResourceClaim>,
): Promise<ReadonlyMap<string, Pod>> {
  const found = new Map<string, Pod>()
  for (const name of names) {
    const pod = context.informer(pods).get(keyText(namespace, name)) ?? (await podOnServer(name, namespace, context))
    if (pod !== undefined) found.set(name, pod)
  }
  return found
}

async function podOnServer(
  name: string,
  namespace: string,
  { client }: ReconcileContext<ResourceClaim>,
): Promise<Pod | undefined> {
  try {
    return await client.get(pods, { namespace, name })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

import {
  apiServices,
  deepEqual,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  pods as podResource,
  type Resource,
} from '@coracle/api'
import { type Controller, controller } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podLabelsIndex } from '../pods/by-labels.ts'
import type { Memory } from './memory.ts'
import type { ScaledLoad, Selectors } from './sync.ts'
import { nextLookMs, syncPeriodMs } from './turns.ts'

export type { ScaledLoad } from './sync.ts'

/** What is kept of an autoscaler between looks. */
interface Kept {
  readonly memory: Memory | undefined
  /** When it is looked at again, unless its spec changes. */
  readonly nextAtMs: Time
  /** As it was at the last look; undefined where there was none. Upstream counts no generations here. */
  readonly spec: HorizontalPodAutoscaler['spec'] | undefined
}

/**
 * Scales what HorizontalPodAutoscalers name, by their metrics: https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale.
 * It looks every 15 seconds, and at once at an autoscaler that is new or has a new spec. What it remembers of the past goes with it:
 * after a start nothing shrinks for the first window, as upstream.
 */
export function createHorizontalPodAutoscalerController({
  resources,
  load = 'measured',
}: {
  resources(): readonly Resource[]
  readonly load?: ScaledLoad
}): Controller {
  const kept = new Map<string, Kept>()
  const selectors: Selectors = new Map()
  return controller('horizontal-pod-autoscaler', { component: 'horizontal-pod-autoscaler' })
    .for(horizontalPodAutoscalers)
    .reads(apiServices)
    .reads(podResource, { indexes: podLabelsIndex })
    .reconcile(async ({ key, object: autoscaler, namespace = '' }, context) => {
      if (autoscaler === undefined) {
        kept.delete(key)
        forgetSelector(selectors, namespace, key)
        return undefined
      }
      const nowMs = context.clock.now()
      const { spec } = autoscaler
      const nextAtMs = nextLookMs(autoscaler.metadata.uid ?? '', nowMs)
      // One that had been looked at before this controller began is in turn when it would have been.
      const known = kept.get(key) ?? { memory: undefined, nextAtMs, spec: wasLookedAt(autoscaler) ? spec : undefined }
      // No turn is further away than that, unless the clock has been put back.
      const isInTurn = nowMs >= known.nextAtMs || known.nextAtMs - nowMs > syncPeriodMs
      if (deepEqual(known.spec, spec) && !isInTurn) {
        kept.set(key, known)
        return { requeueAfterMs: known.nextAtMs - nowMs, poll: true }
      }
      const keep = (memory: Memory | undefined): void => void kept.set(key, { memory, nextAtMs, spec })
      // Also where it cannot be carried out it is looked at again when it is in turn, not at once.
      keep(known.memory)
      // Few clusters have autoscalers. Where time is virtual it stands still meanwhile.
      const { sync } = await context.clock.hold(import('./sync.ts'))
      await sync(autoscaler, known.memory, context, { key, resources, load, selectors, keep })
      return { requeueAfterMs: nextAtMs - context.clock.now(), poll: true }
    })
}

/** Every look says something. */
const wasLookedAt = ({ status }: HorizontalPodAutoscaler): boolean => (status?.conditions ?? []).length > 0

function forgetSelector(selectors: Selectors, namespace: string, key: string): void {
  const ofNamespace = selectors.get(namespace)
  ofNamespace?.delete(key)
  if (ofNamespace?.size === 0) selectors.delete(namespace)
}

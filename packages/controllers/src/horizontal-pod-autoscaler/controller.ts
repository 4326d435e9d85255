import {
  apiServices,
  deepEqual,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  type LabelSelectorMatcher,
  parseLabelSelector,
  pods as podResource,
  type Resource,
  type Scale,
} from '@coracle/api'
import { type Controller, controller, performPlan, type ReconcileContext } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podLabelsIndex, selectedPods } from '../pods/by-labels.ts'
import type { Memory } from './memory.ts'
import { needsMetrics, nextLookMs, planAutoscaler, refusedStatus, type SelectorProblem, type Workload } from './plan.ts'
import { findScaleTarget } from './scale-target.ts'
import { ambiguity, emptySelector, unreadableSelector } from './selector-problems.ts'

/** What is kept of an autoscaler between looks. */
interface Kept {
  readonly memory: Memory | undefined
  /** When it is looked at again, unless its spec changes. */
  readonly nextAtMs: Time
  /** As it was at the last look; undefined where there was none. Upstream counts no generations here. */
  readonly spec: HorizontalPodAutoscaler['spec'] | undefined
}

/** What autoscalers select, by namespace and key: pods of two of them would be scaled by both. */
type Selectors = Map<string, Map<string, LabelSelectorMatcher>>

/**
 * What autoscalers go by: `measured`, the metrics there are; or `steady`, that each metric stays such that the number of pods within
 * the bounds is right: where no load can be measured, and is not to be taken for none.
 */
export type ScaledLoad = 'measured' | 'steady'

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
      if (deepEqual(known.spec, spec) && nowMs < known.nextAtMs) {
        kept.set(key, known)
        return { requeueAfterMs: known.nextAtMs - nowMs, poll: true }
      }
      const keep = (memory: Memory | undefined): void => void kept.set(key, { memory, nextAtMs, spec })
      // Also where it cannot be carried out it is looked at again when it is in turn, not at once.
      keep(known.memory)
      await sync(autoscaler, known.memory, context, { key, resources, load, selectors, keep })
      return { requeueAfterMs: nextAtMs - context.clock.now(), poll: true }
    })
}

/** Every look says something. */
const wasLookedAt = ({ status }: HorizontalPodAutoscaler): boolean => (status?.conditions ?? []).length > 0

interface SyncParts {
  readonly key: string
  readonly resources: () => readonly Resource[]
  readonly load: ScaledLoad
  readonly selectors: Selectors
  readonly keep: (memory: Memory | undefined) => void
}

/** One look. What it learns is remembered before the status is written, which may fail. */
async function sync(
  autoscaler: HorizontalPodAutoscaler,
  memory: Memory | undefined,
  context: ReconcileContext<HorizontalPodAutoscaler>,
  parts: SyncParts,
): Promise<void> {
  const { client, signal, clock } = context
  const target = await findScaleTarget(autoscaler, { client, resources: parts.resources, signal })
  const workload =
    'error' in target || !needsMetrics(autoscaler, target.scale)
      ? undefined
      : parts.load === 'steady'
        ? parts.load
        : await observeWorkload(autoscaler, target.scale, context, parts)
  const plan = planAutoscaler({ autoscaler, target, workload, memory }, clock.now())
  parts.keep(plan.memory)
  let { status } = plan
  try {
    await performPlan(context, autoscaler, { actions: plan.actions })
    parts.keep(plan.memoryOnceScaled ?? plan.memory)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    status &&= refusedStatus(autoscaler, status, why, clock.now())
  }
  await performPlan(context, autoscaler, { actions: [], ...(status === undefined ? {} : { status }) })
}

async function observeWorkload(
  autoscaler: HorizontalPodAutoscaler,
  { status }: Scale,
  context: ReconcileContext<HorizontalPodAutoscaler>,
  { key, resources, selectors }: SyncParts,
): Promise<Workload | SelectorProblem> {
  const { client, clock, signal } = context
  const { namespace = '' } = autoscaler.metadata
  const podSelector = status?.selector ?? ''
  if (podSelector === '') return emptySelector
  const selector = readSelector(podSelector)
  if (typeof selector === 'string') return unreadableSelector(selector)
  const ofNamespace = selectors.get(namespace) ?? new Map<string, LabelSelectorMatcher>()
  selectors.set(namespace, ofNamespace.set(key, selector))
  const pods = selectedPods(context, namespace, selector)
  const ambiguous = ambiguity(key, podSelector, pods, ofNamespace)
  if (ambiguous !== undefined) return ambiguous
  // Few clusters get here: it is loaded by the first that does.
  const { readMetrics } = await clock.hold(import('./metrics-reader.ts'))
  const readings = await readMetrics(autoscaler, {
    client,
    signal,
    podSelector,
    resources,
    customVersion: customMetricsVersion(context),
  })
  return { pods, readings }
}

function readSelector(text: string): LabelSelectorMatcher | string {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The versions of custom.metrics.k8s.io, the preferred one first. */
const customMetricsVersions = ['v1beta2', 'v1beta1'] as const

function customMetricsVersion({ informer }: ReconcileContext<HorizontalPodAutoscaler>): string {
  const served = customMetricsVersions.find(
    (version) => informer(apiServices).get(`${version}.custom.metrics.k8s.io`) !== undefined,
  )
  return served ?? customMetricsVersions[0]
}

function forgetSelector(selectors: Selectors, namespace: string, key: string): void {
  const ofNamespace = selectors.get(namespace)
  ofNamespace?.delete(key)
  if (ofNamespace?.size === 0) selectors.delete(namespace)
}

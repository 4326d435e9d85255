import {
  apiServices,
  type HorizontalPodAutoscaler,
  type LabelSelectorMatcher,
  parseLabelSelector,
  type Resource,
  type Scale,
} from '@coracle/api'
import { performPlan, type ReconcileContext } from '@coracle/controller-runtime'
import { selectedPods } from '../pods/by-labels.ts'
import type { Memory } from './memory.ts'
import { needsMetrics, planAutoscaler, refusedStatus, type SelectorProblem, type Workload } from './plan.ts'
import { findScaleTarget } from './scale-target.ts'
import { ambiguity, emptySelector, unreadableSelector } from './selector-problems.ts'

/** What autoscalers select, by namespace and key: pods of two of them would be scaled by both. */
export type Selectors = Map<string, Map<string, LabelSelectorMatcher>>

/**
 * What autoscalers go by: `measured`, the metrics there are; or `steady`, that each metric stays such that the number of pods within
 * the bounds is right: where no load can be measured, and is not to be taken for none.
 */
export type ScaledLoad = 'measured' | 'steady'

/** What a look needs beside the autoscaler. */
export interface SyncParts {
  readonly key: string
  readonly resources: () => readonly Resource[]
  readonly load: ScaledLoad
  readonly selectors: Selectors
  readonly keep: (memory: Memory | undefined) => void
}

/** One look. What it learns is remembered before the status is written, which may fail. */
export async function sync(
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

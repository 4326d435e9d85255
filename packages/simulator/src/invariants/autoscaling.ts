import { deepEqual, type HorizontalPodAutoscaler, type KubernetesObject } from '@coracle/api'
import type { Kind } from '../kinds.ts'
import { type Change, type Invariant, labelOf, type View } from '../view.ts'

/** What autoscalers promise. */
export const autoscalingInvariants: readonly Invariant[] = [
  { name: 'an autoscaler wants no more and no fewer than it may', check: wantsTooMuch },
  { name: 'in the end what an autoscaler scales is within its bounds', finally: outOfBounds },
]

const has = ({ status }: HorizontalPodAutoscaler, type: string, value: string): boolean =>
  status?.conditions?.some((each) => each.type === type && each.status === value) === true

/** One that could not write the scale still wants what it wanted before. */
const hasScaled = (autoscaler: HorizontalPodAutoscaler): boolean =>
  has(autoscaler, 'ScalingActive', 'True') && !has(autoscaler, 'AbleToScale', 'False')

/** Judged where it could count and scale, when it says so: what it said before a change of its spec may be of before. */
function wantsTooMuch({ object, old }: Change): string | undefined {
  if (object?.kind !== 'HorizontalPodAutoscaler') return undefined
  const autoscaler = object as HorizontalPodAutoscaler
  const { spec, status } = autoscaler
  const isOfBefore = old !== undefined && !deepEqual((old as HorizontalPodAutoscaler).spec, spec)
  if (!hasScaled(autoscaler) || isOfBefore) return undefined
  const { desiredReplicas = 0 } = status ?? {}
  const { minReplicas = 1, maxReplicas } = spec
  return desiredReplicas < minReplicas || desiredReplicas > maxReplicas
    ? `${labelOf(object)} wants ${desiredReplicas}, and may want ${minReplicas} to ${maxReplicas}`
    : undefined
}

/** What somebody has scaled to nothing is left alone. */
function outOfBounds(view: View): readonly string[] {
  return view.list<HorizontalPodAutoscaler>('HorizontalPodAutoscaler').flatMap((autoscaler) => {
    const { metadata, spec } = autoscaler
    const { kind, name } = spec.scaleTargetRef
    const target = view.find(kind as Kind, metadata.namespace, name) as Scaled | undefined
    const replicas = target?.spec.replicas ?? 0
    const { minReplicas = 1, maxReplicas } = spec
    return replicas === 0 || (replicas >= minReplicas && replicas <= maxReplicas)
      ? []
      : [
          `${labelOf(autoscaler)}: ${kind} ${name} has ${replicas} replicas, and may have ${minReplicas} to ${maxReplicas}`,
        ]
  })
}

interface Scaled extends KubernetesObject {
  readonly spec: { readonly replicas?: number }
}

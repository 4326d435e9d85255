/** The behavior as the annotation of autoscaling/v1 has it: under the names of Go's fields, whatever their case. */
import { compile } from '../../../schema/compile.ts'
import { type Behavior, behavior, type ScalingRules } from './behavior.ts'

export function behaviorToV1({ scaleUp, scaleDown }: Behavior): unknown {
  return { ScaleUp: rulesToV1(scaleUp), ScaleDown: rulesToV1(scaleDown) }
}

/** The behavior that an annotation holds; undefined where it says nothing. Throws where it holds none. */
export function behaviorFromV1(text: string): Behavior | undefined {
  const { decode, applyDefaults } = compile(behavior)
  const found = applyDefaults(decode(withFieldNames(JSON.parse(text))).value)
  return found === undefined || Object.keys(found).length === 0 ? undefined : found
}

function rulesToV1(rules: ScalingRules | undefined): unknown {
  if (rules === undefined) return null
  const { stabilizationWindowSeconds, selectPolicy, policies, tolerance } = rules
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies:
      policies?.map(({ type, value, periodSeconds }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })) ?? null,
    Tolerance: tolerance ?? null,
  }
}

/** Keys with a small first letter, at any depth: there are no maps in it whose keys are somebody's. */
function withFieldNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFieldNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.charAt(0).toLowerCase() + key.slice(1), withFieldNames(each)]),
  )
}

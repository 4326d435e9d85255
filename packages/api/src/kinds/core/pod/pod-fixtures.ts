/** Pods for the tests of this folder. */
import { describeFieldError, type FieldError } from '../../../field-error.ts'
import { compile } from '../../../schema/compile.ts'
import type { Container } from './container.ts'
import { podDefaults } from './pod-defaults.ts'
import { type Pod, podSchema } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodStatus } from './pod-status.ts'
import { validatePod } from './pod-validation.ts'

/** A container as a user may write it, wrong values included. */
export type WrittenContainer = Partial<Container> | Readonly<Record<string, unknown>>

/** A pod as a user may write it: one container that runs nginx, and what `spec` adds to it. */
export function writtenPod(spec: Readonly<Record<string, unknown>> = {}): unknown {
  const containers = [{ name: 'web', image: 'nginx:1.27' }]
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { containers, ...spec } }
}

/** The pod as the server has it once it is decoded and its defaults are filled in. */
export function storedPod(spec: Readonly<Record<string, unknown>> = {}): Pod {
  const schema = compile(podSchema)
  return podDefaults(schema.applyDefaults(schema.decode(writtenPod(spec)).value))
}

/** A stored pod with one container, which has these fields beside its name and image. */
export const storedContainer = (fields: WrittenContainer): Pod =>
  storedPod({ containers: [{ name: 'web', image: 'nginx:1.27', ...fields }] })

/** What is wrong with a pod, as the API says it: the schema's errors and then the kind's. */
export function problems(pod: Pod): readonly string[] {
  const errors: readonly FieldError[] = [...compile(podSchema).validate(pod), ...validatePod(pod)]
  return errors.map(describeFieldError)
}

export const withStatus = (pod: Pod, status: PodStatus): Pod => ({ ...pod, status })
export const withSpec = (pod: Pod, spec: Partial<PodSpec>): Pod => ({ ...pod, spec: { ...pod.spec, ...spec } })

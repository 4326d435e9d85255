import type { Container } from '../kinds/core/pod/container.ts'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'

/** What of a pod, or of a template of pods, is checked. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
}

/** Why a pod is not allowed. */
export interface Violation {
  /** What is forbidden, in few words: `hostPort`. */
  readonly reason: string
  /** Where the pod does it: `container "a" uses hostPort 80`. */
  readonly detail: string
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined

/** One rule of the Pod Security Standards. */
export interface Check {
  readonly id: string
  /** Checks of the baseline are part of the restricted level too. */
  readonly level: 'baseline' | 'restricted'
  /** What is checked since which minor version, the oldest first. */
  readonly versions: readonly CheckVersion[]
}

export interface CheckVersion {
  readonly since: number
  readonly check: PodCheck
  /** Checks of the baseline that the restricted level leaves out, because this one forbids more. */
  readonly overrides?: readonly string[]
}

/** All containers of a pod, in the order that messages name them. */
export function containersOf({ spec }: CheckedPod): readonly Container[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec
  return [...initContainers, ...containers, ...ephemeralContainers]
}

/** The names of the containers that are `bad`. */
export function namesOfContainers(pod: CheckedPod, bad: (container: Container) => boolean): readonly string[] {
  return containersOf(pod).flatMap((container) => (bad(container) ? [container.name] : []))
}

/** Since 1.25 some checks leave Windows pods alone: what they ask for cannot be said of those. */
export function exceptOnWindows(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : check(pod))
}

/** Since 1.35 some checks leave pods in a user namespace of their own alone: https://kep.k8s.io/127. */
export function exceptInUserNamespaces(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod))
}

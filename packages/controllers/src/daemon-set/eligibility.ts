import {
  type DaemonSet,
  isTolerated,
  type Node,
  type NodeMatcher,
  requiredNodeMatcher,
  type Toleration,
} from '@coracle/api'
import { daemonTolerations } from './daemon-pod.ts'

/** What a node is to a daemon set: it gets a pod, keeps the one it has, or neither. */
export type Eligibility = 'runs' | 'keeps' | 'none'

/**
 * Tells which nodes a daemon set's pods belong on, by what the template requires of a node and tolerates (upstream's
 * NodeShouldRunDaemonPod). Whether there is room does not count: that is the scheduler's. Pure; the template is read once.
 */
export function eligibility({ spec: { template } }: DaemonSet): (node: Node) => Eligibility {
  const known = rules.get(template)
  if (known !== undefined) return known
  const made = remembered(ruleOf(template.spec))
  rules.set(template, made)
  return made
}

const rules = new WeakMap<object, (node: Node) => Eligibility>()

type PodSpec = DaemonSet['spec']['template']['spec']

function ruleOf(spec: PodSpec): (node: Node) => Eligibility {
  const matches: NodeMatcher = requiredNodeMatcher(spec) ?? (() => true)
  const tolerations = daemonTolerations(spec)
  return (node) => {
    if (spec.nodeName && spec.nodeName !== node.metadata.name) return 'none'
    if (!matches(node)) return 'none'
    if (isFreeOf(['NoSchedule', 'NoExecute'], node, tolerations)) return 'runs'
    return isFreeOf(['NoExecute'], node, tolerations) ? 'keeps' : 'none'
  }
}

/** Whether a node has no taint of such an effect that is not tolerated. */
function isFreeOf(effects: readonly string[], { spec }: Node, tolerations: readonly Toleration[]): boolean {
  return (spec?.taints ?? []).every((taint) => !effects.includes(taint.effect) || isTolerated(taint, tolerations))
}

/** Asks once per state of a node: every pod that starts makes its daemon set look at all nodes again. */
function remembered(rule: (node: Node) => Eligibility): (node: Node) => Eligibility {
  const answers = new WeakMap<Node, Eligibility>()
  return (node) => {
    const known = answers.get(node)
    if (known !== undefined) return known
    const answer = rule(node)
    answers.set(node, answer)
    return answer
  }
}

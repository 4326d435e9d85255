import type { Explanation, Finding, ObjectReference } from '@coracle/why'
import { autoscalerOracles } from './autoscaler-oracles.ts'
import { isAsAsked, isLacking } from './expectations.ts'
import { jobOracles } from './job-oracles.ts'
import type { Oracle, World } from './oracle.ts'
import { otherOracles } from './other-oracles.ts'
import { failedBy, podOracles } from './pod-oracles.ts'
import { volumeOracles } from './volume-oracles.ts'
import { workloadOracles } from './workload-oracles.ts'
import type { WriteLog } from './write-log.ts'

const oracles: Readonly<Record<string, Oracle>> = {
  ...podOracles,
  ...workloadOracles,
  ...jobOracles,
  ...volumeOracles,
  ...autoscalerOracles,
  ...otherOracles,
}

/** What is wrong with what an explanation says of how things are, held against how they are. */
export function falseFindings({ object, findings, verdict }: Explanation, world: World): readonly string[] {
  const { view, log } = world
  const current = view.byUid(object.uid ?? '')
  if (verdict === 'gone')
    return current === undefined ? unseenDeletion(object, findings, log) : ['it is told to be gone, and is there']
  if (current === undefined) return ['it is told to be there, and is not']
  const problems = findings.flatMap((finding) => {
    const problem = falseFinding(finding, world)
    return problem === undefined
      ? []
      : [`${finding.reason} of ${finding.object.kind} ${finding.object.name}: ${problem}; told: ${finding.because}`]
  })
  const holds = findings.filter(({ state, reason }) => state !== 'hint' && !independent.has(reason))
  if (verdict === 'fine' && isLacking(current, view))
    problems.push(`it is told to be fine: ${isLacking(current, view)}`)
  if (holds.length > 0 && isAsAsked(current, view))
    problems.push(`it is as it is to be, and told to be ${verdict}: ${holds.map(({ reason }) => reason).join(', ')}`)
  return problems
}

/** What may be so whatever else an object is like. */
const independent: ReadonlySet<string> = new Set(['ManagersContend', 'NotObserved'])

function falseFinding(finding: Finding, world: World): string | undefined {
  const object = world.view.byUid(finding.object.uid ?? '')
  if (object === undefined) return 'there is no such object'
  const { kind, metadata } = object
  if (kind !== finding.object.kind || metadata.name !== finding.object.name) return `it is ${kind} ${metadata.name}`
  const oracle = oracles[finding.reason] ?? (kind === 'Pod' ? failedBy : undefined)
  if (oracle === undefined) return 'nobody here knows whether that is true'
  return oracle(finding, object, world)
}

/** What is told to have been deleted was there, and its last change was that. */
function unseenDeletion({ uid = '' }: ObjectReference, findings: readonly Finding[], log: WriteLog): readonly string[] {
  if (!findings.some(({ reason }) => reason === 'Deleted')) return []
  const last = log.at(log.latestOf(uid) ?? 0).find((change) => change.uid === uid)
  return last?.operation === 'delete' ? [] : ['it is told to be deleted, and nobody has deleted it']
}

import type { ContainerStatus, Pod, PodFailurePolicyRule } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, jobPod } from '../testing/jobs.ts'
import { judgeFailure } from './pod-failure-policy.ts'

const ended = (name: string, exitCode: number): ContainerStatus =>
  ({ name, state: { terminated: { exitCode } } }) as ContainerStatus

function pod(status: Partial<NonNullable<Pod['status']>>): Pod {
  const base = jobPod('a', { phase: 'Failed' })
  return { ...base, status: { phase: 'Failed', ...status } }
}

const onCodes = (action: string, values: readonly number[], parts: object = {}): PodFailurePolicyRule =>
  ({ action, onExitCodes: { operator: 'In', values, ...parts } }) as PodFailurePolicyRule
const onConditions = (action: string, ...patterns: readonly { type: string; status?: string }[]) =>
  ({ action, onPodConditions: patterns }) as PodFailurePolicyRule

const byCodes = [onCodes('Ignore', [1, 2, 3]), onCodes('FailJob', [5, 6, 7])]
const disrupted = { conditions: [{ type: 'DisruptionTarget', status: 'True' }] } as const
const limited = { type: 'ResourceLimitExceeded', status: 'True' } as const

const verdict = (rules: readonly PodFailurePolicyRule[], of: Pod): string | undefined =>
  judgeFailure(job({ podFailurePolicy: { rules } }), of)?.message

describe('the failure of a pod', () => {
  it.each<readonly [string, readonly PodFailurePolicyRule[], Pod, string | undefined]>([
    ['is counted where there is no rule', [], pod(disrupted), undefined],
    [
      'is counted where no rule is about its exit code',
      byCodes,
      pod({ containerStatuses: [ended('a', 10)] }),
      undefined,
    ],
    [
      'is judged by the exit code of a container',
      byCodes,
      pod({ containerStatuses: [ended('a', 5)] }),
      'Container a for pod default/a failed with exit code 5 matching FailJob rule at index 1',
    ],
    [
      'is judged by the exit code of an init container',
      byCodes,
      pod({ containerStatuses: [ended('a', 143)], initContainerStatuses: [ended('init', 5)] }),
      'Container init for pod default/a failed with exit code 5 matching FailJob rule at index 1',
    ],
    [
      'is judged by the first rule that is about it, not by the first container',
      byCodes,
      pod({ containerStatuses: [ended('a', 6), ended('b', 2)] }),
      'Container b for pod default/a failed with exit code 2 matching Ignore rule at index 0',
    ],
    [
      'is judged by the container that the rule names',
      [onCodes('FailJob', [5], { containerName: 'b' })],
      pod({ containerStatuses: [ended('a', 5), ended('b', 1)] }),
      undefined,
    ],
    [
      'is judged by exit codes that are none of some',
      [onCodes('FailJob', [5, 6, 7], { operator: 'NotIn' })],
      pod({ containerStatuses: [ended('a', 42)] }),
      'Container a for pod default/a failed with exit code 42 matching FailJob rule at index 0',
    ],
    [
      'is not judged by an exit code that is one of them',
      [onCodes('FailJob', [5, 6, 7], { operator: 'NotIn' })],
      pod({ containerStatuses: [ended('a', 5)] }),
      undefined,
    ],
    [
      'is not judged by a container that has succeeded, or still runs',
      [onCodes('FailJob', [5], { operator: 'NotIn' })],
      pod({ containerStatuses: [ended('a', 0), { name: 'b', state: { running: {} } } as ContainerStatus] }),
      undefined,
    ],
    [
      'is counted by a rule that says so, whatever the next one says',
      [onCodes('Count', [1, 2]), onCodes('Ignore', [2, 3])],
      pod({ containerStatuses: [ended('a', 2)] }),
      'Container a for pod default/a failed with exit code 2 matching Count rule at index 0',
    ],
    [
      'is judged by a condition',
      [onConditions('Ignore', { type: 'DisruptionTarget', status: 'True' })],
      pod(disrupted),
      'Pod default/a has condition DisruptionTarget matching Ignore rule at index 0',
    ],
    [
      'is judged by a condition that is true, where the rule does not say which',
      [onConditions('Ignore', { type: 'DisruptionTarget' })],
      pod(disrupted),
      'Pod default/a has condition DisruptionTarget matching Ignore rule at index 0',
    ],
    [
      'is judged by a condition that is one of several',
      [onConditions('Ignore', limited, { type: 'DisruptionTarget' })],
      pod(disrupted),
      'Pod default/a has condition DisruptionTarget matching Ignore rule at index 0',
    ],
    [
      'is not judged by a condition of another status',
      [onConditions('Ignore', { type: 'DisruptionTarget', status: 'False' })],
      pod(disrupted),
      undefined,
    ],
    [
      'is judged by the first rule that one of its conditions is in',
      [onConditions('Count', limited), onConditions('Ignore', { type: 'DisruptionTarget' })],
      pod({ conditions: [...disrupted.conditions, limited] }),
      'Pod default/a has condition ResourceLimitExceeded matching Count rule at index 0',
    ],
  ])('%s', (_, rules, of, wanted) => {
    expect(verdict(rules, of)).toBe(wanted)
  })
})

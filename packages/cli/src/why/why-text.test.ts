import { parseTime } from '@coracle/api'
import type { Change, Explanation } from '@coracle/why'
import { describe, expect, it } from 'vitest'
import { whyText } from './why-text.ts'

const nowMs = parseTime('2026-01-01T00:01:05Z')
const object = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' }
const explanation = (parts: Partial<Explanation>): Explanation => ({
  apiVersion: 'coracle.dev/v1',
  kind: 'Explanation',
  object,
  verdict: 'fine',
  findings: [],
  ...parts,
})
const changed = {
  operation: 'update',
  group: '',
  resource: 'pods',
  kind: 'Pod',
  namespace: 'default',
  name: 'web',
} as const
const jane = { type: 'user', name: 'jane', user: 'jane' } as const
const asked = (parts: Partial<Change> = {}): Change => ({
  revision: 7,
  time: '2026-01-01T00:00:00Z',
  who: jane,
  request: { verb: 'update' },
  objects: [changed],
  from: [],
  end: 'request',
  ...parts,
})
const reconciled = { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' }
const controller = { type: 'controller', name: 'replicator', user: 'system:serviceaccount:kube-system:r' } as const
const { end: _, ...open } = asked({ who: controller, reconciled, because: 'none exist' })

/** The one line about a change, without revision and age. */
const line = (change: Change): string | undefined =>
  whyText(explanation({ changes: [change] }), nowMs)
    .split('\n')[3]
    ?.replace(/^\d+ +65s +/, '')
    .replaceAll(/ {3,}/g, ' | ')

describe('why, as text', () => {
  it.each<[string, Change, string]>([
    [
      'who asked, and with what',
      asked({ who: { ...jane, manager: 'kubectl-edit' } }),
      'pod/web changed | jane | asked for, with kubectl-edit',
    ],
    ['the reason that somebody gave', asked({ because: 'too old' }), 'pod/web changed | jane | too old'],
    [
      'which controller, for what, after what',
      { ...open, from: [5, 3] },
      'pod/web changed | replicator | replicationcontroller/rc: none exist [after 5, 3]',
    ],
    [
      'that it only claims to be one',
      { ...open, who: { ...controller, user: 'jane', claimed: true }, end: 'time' },
      'pod/web changed | replicator (says jane) | replicationcontroller/rc: none exist',
    ],
    [
      'that the record ends',
      { ...open, end: 'forgotten' },
      'pod/web changed | replicator | replicationcontroller/rc: none exist [what it followed from is not kept]',
    ],
    [
      'a deletion that waits',
      asked({ request: { verb: 'delete', subresource: 'eviction' } }),
      'pod/web asked to go (eviction) | jane | asked for',
    ],
    ['what changed with it', asked({ objects: [changed, changed] }), 'pod/web changed and 1 more | jane | asked for'],
  ])('tells %s', (_what, change, told) => {
    expect(line(change)).toBe(told)
  })

  it('tells first what holds the object up, and of whom else it is true', () => {
    const finding = {
      object,
      reason: 'NoNodes',
      what: 'no node takes it',
      because: '0/1 nodes are available',
      remedy: 'add one',
    }
    const other = { ...finding, object: { ...object, kind: 'Node', name: 'n1' }, state: 'waiting', alike: 2 } as const
    const findings = [{ ...finding, state: 'stuck' } as const, other]
    expect(whyText(explanation({ verdict: 'stuck', findings, changes: [] }), nowMs)).toBe(
      [
        'pod/web: no node takes it',
        '  0/1 nodes are available',
        '  → add one',
        '',
        'pod/web ← node/n1, and 2 like it: no node takes it (goes on by itself)',
        '  0/1 nodes are available',
        '  → add one',
        '',
        'The record has no changes of it, or none that is kept still.',
        '',
      ].join('\n'),
    )
  })

  it('keeps words of several lines together', () => {
    const finding = {
      object,
      reason: 'CrashLoop',
      what: 'it ends',
      because: 'panic:\nno disk\n',
      remedy: 'read its logs',
    }
    const text = whyText(explanation({ verdict: 'stuck', findings: [{ ...finding, state: 'stuck' }] }), nowMs)
    expect(text).toContain('pod/web: it ends\n  panic:\n  no disk\n  → read its logs\n')
  })

  it('lets nothing that others have written drive the terminal', () => {
    const because = 'ended: \u001b[2J\u001b]0;owned'
    const finding = { object, reason: 'CrashLoop', what: 'it ends', because, remedy: '', state: 'stuck' } as const
    const text = whyText(explanation({ verdict: 'stuck', findings: [finding], changes: [asked({ because })] }), nowMs)
    expect(text).not.toContain('\u001b')
    expect(text.split('ended: ^[[2J^[]0;owned')).toHaveLength(3)
  })

  it('says so where there is no record, or no object any more', () => {
    expect(whyText(explanation({ verdict: 'gone' }), nowMs)).toBe(
      'pod/web: gone\n\nThe server keeps no record of causes.\n',
    )
  })
})

import { type Cause, type CauseLink, parseTime } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { whyText } from './why-text.ts'

const cause = (revision: number, parts: Partial<Cause>): Cause => ({
  apiVersion: 'coracle.dev/v1',
  kind: 'Cause',
  metadata: { name: String(revision), creationTimestamp: '2026-01-01T00:00:00Z' },
  revision,
  changes: [{ operation: 'update', group: '', resource: 'pods', kind: 'Pod', namespace: 'default', name: 'web' }],
  user: 'jane',
  request: { verb: 'update' },
  ...parts,
})
const reconcile = {
  controller: 'replicator',
  object: { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' },
  seen: [],
}
const nowMs = parseTime('2026-01-01T00:01:05Z')

/** The one line about a cause, without revision and age. */
const line = (link: CauseLink): string | undefined => {
  const text = whyText({ object: 'pod/web', isGone: false, stuck: [], causes: [link] }, nowMs)
  return text
    .split('\n')[3]
    ?.replace(/^\d+ +65s +/, '')
    .replaceAll(/ {3,}/g, ' | ')
}

describe('why, as text', () => {
  const asked = (parts: Partial<Cause>): CauseLink => ({ cause: cause(7, parts), from: [], end: 'request' })
  const acted = (parts: Partial<Cause>, rest: Partial<CauseLink> = {}): CauseLink => ({
    cause: cause(7, { reconcile, because: 'none exist', ...parts }),
    from: [],
    ...rest,
  })
  const [change] = cause(7, {}).changes
  const changes = change === undefined ? [] : [change, change]

  it.each<[string, CauseLink, string]>([
    [
      'who asked, and with what',
      asked({ request: { verb: 'update', fieldManager: 'kubectl-edit' } }),
      'pod/web changed | jane | asked for, with kubectl-edit',
    ],
    ['the reason that somebody gave', asked({ because: 'too old' }), 'pod/web changed | jane | too old'],
    [
      'which controller, for what, after what',
      acted({}, { from: [5, 3] }),
      'pod/web changed | replicator | replicationcontroller/rc: none exist [after 5, 3]',
    ],
    [
      'that it only claims to be one',
      acted({ claimed: true }, { end: 'time' }),
      'pod/web changed | replicator (says jane) | replicationcontroller/rc: none exist',
    ],
    [
      'that the record ends',
      acted({}, { end: 'forgotten' }),
      'pod/web changed | replicator | replicationcontroller/rc: none exist [what it followed from is not kept]',
    ],
    [
      'a deletion that waits',
      asked({ request: { verb: 'delete', subresource: 'eviction' } }),
      'pod/web asked to go (eviction) | jane | asked for',
    ],
    ['what changed with it', asked({ changes }), 'pod/web changed and 1 more | jane | asked for'],
  ])('tells %s', (_what, link, told) => {
    expect(line(link)).toBe(told)
  })

  it('tells first what holds the object up', () => {
    const stuck = [{ what: 'no node takes it', because: '0/1 nodes are available', remedy: 'add one' }]
    const text = whyText({ object: 'pod/web', isGone: false, stuck, causes: [] }, nowMs)
    expect(text).toBe(
      'pod/web: no node takes it\n  0/1 nodes are available\n  → add one\n\nThe record has no changes of it, or none that is kept still.\n',
    )
  })

  it('says so where there is no record, or no object any more', () => {
    const told = whyText({ object: 'pod/web', isGone: true, stuck: [], causes: undefined }, nowMs)
    expect(told).toBe('pod/web: gone\n\nThe server keeps no record of causes.\n')
  })
})

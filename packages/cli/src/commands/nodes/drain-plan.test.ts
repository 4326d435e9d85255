import { formatTime, type Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type DrainConsent, overdueAtMs, planDrain } from './drain-plan.ts'

const owner = (kind: string) => [{ apiVersion: 'apps/v1', kind, name: 'owner', uid: 'u', controller: true }]

const pod = (name: string, { metadata = {}, spec = {}, phase = 'Running' } = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...metadata },
    spec: { containers: [{ name: 'main' }], ...spec },
    status: { phase },
  }) as unknown as Pod

const careful: DrainConsent = {
  force: false,
  ignoreDaemonSets: false,
  deleteEmptyDirData: false,
  isOverdue: () => false,
  hasDaemonSet: () => true,
}

const owned = { metadata: { ownerReferences: owner('ReplicaSet') } }
const daemon = { metadata: { ownerReferences: owner('DaemonSet') } }
const scratch = { ...owned, spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } }

describe('what a drain does with a pod', () => {
  it.each<[string, Pod, Partial<DrainConsent>, { evict?: true; warnings?: string; refusals?: string }]>([
    ['of a controller', pod('a', owned), {}, { evict: true }],
    ['of nobody', pod('a'), {}, { refusals: 'Pods that declare no controller (use --force to override)' }],
    [
      'of nobody, forced',
      pod('a'),
      { force: true },
      { evict: true, warnings: 'deleting Pods that declare no controller' },
    ],
    ['of nobody, long on its way out', pod('a'), { isOverdue: () => true }, {}],
    ['of nobody, finished', pod('a', { phase: 'Succeeded' }), {}, { evict: true }],
    [
      'of a daemon set',
      pod('a', daemon),
      {},
      { refusals: 'DaemonSet-managed Pods (use --ignore-daemonsets to ignore)' },
    ],
    [
      'of a daemon set, ignored',
      pod('a', daemon),
      { ignoreDaemonSets: true },
      { warnings: 'ignoring DaemonSet-managed Pods' },
    ],
    ['of a daemon set, failed', pod('a', { ...daemon, phase: 'Failed' }), {}, { evict: true }],
    [
      'of a daemon set that is gone',
      pod('a', daemon),
      { ignoreDaemonSets: true, hasDaemonSet: () => false },
      { refusals: 'DaemonSet-managed Pods whose daemonset.apps "owner" is not found' },
    ],
    [
      'of a daemon set that is gone, forced',
      pod('a', daemon),
      { force: true, hasDaemonSet: () => false },
      { evict: true, warnings: 'deleting DaemonSet-managed Pods whose daemonset.apps "owner" is not found' },
    ],
    [
      'with local storage',
      pod('a', scratch),
      {},
      { refusals: 'Pods with local storage (use --delete-emptydir-data to override)' },
    ],
    [
      'with local storage that may go',
      pod('a', scratch),
      { deleteEmptyDirData: true },
      { evict: true, warnings: 'deleting Pods with local storage' },
    ],
    [
      'that its node agent has from a file',
      pod('a', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
      {},
      {},
    ],
  ])('%s', (_, each, consent, { evict, warnings, refusals }) => {
    expect(planDrain([each], { ...careful, ...consent })).toEqual({
      evict: evict === true ? [each] : [],
      warnings: warnings === undefined ? [] : [`${warnings}: shop/a`],
      refusals: refusals === undefined ? [] : [`cannot delete ${refusals}: shop/a`],
    })
  })

  it('names all pods of one reason together', () => {
    const plan = planDrain([pod('a'), pod('b', scratch), pod('c')], careful)
    expect(plan.refusals).toEqual([
      'cannot delete Pods that declare no controller (use --force to override): shop/a, shop/c',
      'cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/b',
    ])
  })
})

describe('a pod that is on its way out is overdue', () => {
  const leaving = pod('a', { metadata: { deletionTimestamp: '2026-01-01T00:00:10Z' } })
  it.each<[string, Pod, number, string | undefined]>([
    ['once more whole seconds have passed than are waited for', leaving, 30, '2026-01-01T00:00:41Z'],
    ['never, where each is waited for', leaving, 0, undefined],
    ['never, where nobody deletes it', pod('a'), 30, undefined],
  ])('%s', (_, given, seconds, expected) => {
    const atMs = overdueAtMs(given, seconds)
    expect(atMs === undefined ? undefined : formatTime(atMs)).toBe(expected)
  })
})

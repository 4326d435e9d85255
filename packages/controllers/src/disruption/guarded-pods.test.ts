import { type Pod, parseLabelSelector } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pod, replicationController } from '../testing/objects.ts'
import { GuardedTallies, isHealthy } from './guarded-pods.ts'

const selectors = { web: 'app=web', front: 'tier in (front)', all: '', old: '!tier' }

const ownedBy = (uid: string) => ({ ...replicationController(0), metadata: { name: uid, uid } })

const traits = fc.record(
  {
    labels: fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'front' }, { tier: 'front' }, {}),
    readyFor: fc.constant(1),
    isGoing: fc.boolean(),
    controlledBy: fc.constantFrom(ownedBy('one'), ownedBy('two')),
  },
  { requiredKeys: ['labels'] },
)

const name = fc.constantFrom('a', 'b', 'c', 'd')
const step = fc.oneof(
  fc.record({ type: fc.constant('set' as const), name, traits }),
  fc.record({ type: fc.constant('delete' as const), name }),
  fc.record({ type: fc.constant('forget' as const), budget: fc.constantFrom('web', 'front', 'all', 'old') }),
)

/** What budgets guard, as its definitions say, from all pods at once. */
function recount(pods: readonly Pod[], selector: string) {
  const guarded = pods.filter(({ metadata }) => parseLabelSelector(selector).matches(metadata.labels))
  const uids = guarded.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)
  return {
    total: guarded.length,
    healthy: guarded.filter(isHealthy).length,
    controllers: [...new Set(uids.filter((uid) => uid !== undefined))].sort(),
    hasUnmanaged: uids.includes(undefined),
  }
}

describe('the tallies of pods that budgets guard', () => {
  it('equal a recount after any changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (changes) => {
        const tallies = new GuardedTallies()
        const pods = new Map<string, Pod>()
        for (const change of changes) {
          if (change.type === 'forget') tallies.forget(change.budget)
          else {
            const old = pods.get(change.name)
            if (old !== undefined) tallies.remove(old)
            pods.delete(change.name)
          }
          if (change.type === 'set') {
            pods.set(change.name, pod(change.name, change.traits))
            tallies.add(pod(change.name, change.traits))
          }
          for (const [key, selector] of Object.entries(selectors)) {
            const all = () => [...pods.values()]
            const { controllers, ...counts } = tallies.of(key, 'default', parseLabelSelector(selector), all)
            const uids = controllers.map(({ owner }) => owner.uid).sort()
            expect({ ...counts, controllers: uids }).toEqual(recount(all(), selector))
          }
        }
      }),
    )
  })

  it('name a pod of each controller that is there', () => {
    const tallies = new GuardedTallies()
    const [first, second] = ['a', 'b'].map((each) => pod(each, { controlledBy: ownedBy('one') })) as [Pod, Pod]
    const guarded = (pods: readonly Pod[]) => tallies.of('web', 'default', parseLabelSelector('app=web'), () => pods)
    guarded([first, second])
    tallies.remove(first)
    expect(guarded([])).toMatchObject({ controllers: [{ owner: { name: 'one' }, podName: 'b' }] })
  })
})

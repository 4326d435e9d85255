import type { FlowSchema, PriorityLevelConfiguration } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { routeOf } from '../http/routes.ts'
import { LevelQueues } from './level-queues.ts'
import { distinguisherOf, matches } from './matching.ts'
import { seatShares } from './seat-shares.ts'
import { type SeatRequest, Seats } from './seats.ts'
import { dealHand } from './shuffle-sharding.ts'

const schemaOf = (rule: object, spec: object = {}) =>
  ({ metadata: { name: 's' }, spec: { rules: [rule], ...spec } }) as unknown as FlowSchema
const everybody = [{ kind: 'Group', group: { name: '*' } }]
const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] }
const user = { name: 'jane', groups: ['devs', 'admins'] }
const get = (path: string) => routeOf('GET', path, () => false)
const onePod = get('/api/v1/namespaces/a/pods/p')

describe('a flow schema', () => {
  it.each<[string, object, boolean]>([
    ['its name', { kind: 'User', user: { name: 'jane' } }, true],
    ['another name', { kind: 'User', user: { name: 'joe' } }, false],
    ['any name', { kind: 'User', user: { name: '*' } }, true],
    ['its group', { kind: 'Group', group: { name: 'devs' } }, true],
    ['another group', { kind: 'Group', group: { name: 'ops' } }, false],
    ['one of its groups', { kind: 'Group', group: { name: 'admins' } }, true],
    ['an account', { kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } }, false],
    ['what it does not say', { kind: 'User' }, false],
    ['a group it does not name', { kind: 'Group' }, false],
    ['an account it does not name', { kind: 'ServiceAccount' }, false],
    ['something else', { kind: 'Machine', user: { name: '*' }, group: { name: '*' } }, false],
  ])('means a user by %s', (_how, subject, isMeant) => {
    expect(matches(schemaOf({ subjects: [subject], resourceRules: [pods] }), user, onePod)).toBe(isMeant)
  })

  it.each<[string, string, boolean]>([
    ['a', 'b', true],
    ['a', '*', true],
    ['a', 'c', false],
    ['other', '*', false],
  ])('means the account b of a by %s/%s', (namespace, name, isMeant) => {
    const subject = { kind: 'ServiceAccount', serviceAccount: { namespace, name } }
    const account = { name: 'system:serviceaccount:a:b', groups: [] }
    expect(matches(schemaOf({ subjects: [subject], resourceRules: [pods] }), account, onePod)).toBe(isMeant)
  })

  it.each<[string, object, string, boolean]>([
    ['as it is said', {}, '/api/v1/namespaces/a/pods/p', true],
    ['of another namespace', {}, '/api/v1/namespaces/b/pods/p', false],
    ['of any namespace', { namespaces: ['*'] }, '/api/v1/namespaces/b/pods/p', true],
    ['of all namespaces together, which is none', { namespaces: ['*'], verbs: ['list'] }, '/api/v1/pods', false],
    ['of the cluster', { clusterScope: true, verbs: ['list'] }, '/api/v1/pods', true],
    ['of another verb', { verbs: ['list'] }, '/api/v1/namespaces/a/pods/p', false],
    ['of any verb', { verbs: ['*'] }, '/api/v1/namespaces/a/pods/p', true],
    ['of a subresource, which has to be said', {}, '/api/v1/namespaces/a/pods/p/status', false],
    ['of a subresource that is said', { resources: ['pods/status'] }, '/api/v1/namespaces/a/pods/p/status', true],
    ['of another group', { apiGroups: ['apps'] }, '/api/v1/namespaces/a/pods/p', false],
  ])('means resources %s', (_how, parts, path, isMeant) => {
    const schema = schemaOf({ subjects: everybody, resourceRules: [{ ...pods, ...parts }] })
    expect(matches(schema, user, get(path))).toBe(isMeant)
  })

  it.each<[string, string, boolean]>([
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/etcd', true],
    ['/healthz', '/healthzy', false],
    ['/a/*', '/a/b/c', true],
    ['/a/*', '/ab', false],
    ['*', '/version', true],
  ])('means by %s the path %s', (url, path, isMeant) => {
    const schema = schemaOf({ subjects: everybody, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }] })
    expect(matches(schema, user, get(path))).toBe(isMeant)
  })

  it('means what one of its rules means of one of their subjects', () => {
    const [nobody, jane] = [
      { kind: 'User', user: { name: 'joe' } },
      { kind: 'User', user: { name: 'jane' } },
    ]
    const others = { ...pods, resources: ['services'] }
    const schema = (...rules: readonly object[]) => ({ ...schemaOf({}), spec: { rules } }) as unknown as FlowSchema
    const asked = (...rules: readonly object[]) => matches(schema(...rules), user, onePod)
    expect(asked({ subjects: [nobody, jane], resourceRules: [others, pods] })).toBe(true)
    expect(asked({ subjects: [nobody], resourceRules: [pods] }, { subjects: [jane], resourceRules: [pods] })).toBe(true)
    expect(asked({ subjects: [nobody], resourceRules: [pods] }, { subjects: [jane], resourceRules: [others] })).toBe(
      false,
    )
    expect(asked({ subjects: [jane] })).toBe(false)
    expect(asked({ subjects: [], resourceRules: [pods] })).toBe(false)
    expect(asked()).toBe(false)
    expect(matches({ metadata: { name: 's' } } as FlowSchema, user, onePod)).toBe(false)
  })

  it('means resources and paths by rules of their own', () => {
    const paths = [
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
      { verbs: ['get'], nonResourceURLs: ['/livez', '/healthz'] },
    ]
    const both = schemaOf({ subjects: everybody, resourceRules: [pods], nonResourceRules: paths })
    expect([matches(both, user, onePod), matches(both, user, get('/healthz'))]).toEqual([true, true])
    expect(matches(both, user, get('/version'))).toBe(false)
    expect(matches(schemaOf({ subjects: everybody, resourceRules: [pods] }), user, get('/healthz'))).toBe(false)
    const onlyPaths = schemaOf({ subjects: everybody, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] })
    expect([matches(onlyPaths, user, onePod), matches(onlyPaths, user, get('/'))]).toEqual([false, true])
  })

  it('takes a wildcard for one only where it stands alone', () => {
    const rule = { ...pods, verbs: ['*', 'list'] }
    expect(matches(schemaOf({ subjects: everybody, resourceRules: [rule] }), user, onePod)).toBe(false)
  })

  it('means no namespace where it names none', () => {
    const { namespaces: _, ...rule } = pods
    expect(matches(schemaOf({ subjects: everybody, resourceRules: [rule] }), user, onePod)).toBe(false)
  })

  it('tells flows apart by user, by namespace or not', () => {
    const by = (type?: string) =>
      distinguisherOf(schemaOf({}, type === undefined ? {} : { distinguisherMethod: { type } }), user, onePod)
    expect([by('ByUser'), by('ByNamespace'), by()]).toEqual(['jane', 'a', ''])
    const byNamespace = schemaOf({}, { distinguisherMethod: { type: 'ByNamespace' } })
    expect(distinguisherOf(byNamespace, user, get('/healthz'))).toBe('')
    expect(distinguisherOf(byNamespace, user, get('/api/v1/nodes'))).toBe('')
  })
})

describe('the hand of a flow', () => {
  it('is so many different queues, the same each time', () => {
    const cases = fc.tuple(fc.string(), fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 8 }))
    fc.assert(
      fc.property(cases, ([flow, queues, wanted]) => {
        const handSize = Math.min(queues, wanted)
        const hand = dealHand(flow, queues, handSize)
        expect(new Set(hand).size).toBe(handSize)
        expect(hand.every((index) => Number.isInteger(index) && index >= 0 && index < queues)).toBe(true)
        expect(dealHand(flow, queues, handSize)).toEqual(hand)
      }),
    )
  })

  it('is seldom that of another flow', () => {
    const hands = Array.from({ length: 500 }, (_, index) => dealHand(`flow ${index}`, 128, 6).toSorted().join())
    expect(new Set(hands).size).toBe(500)
    const used = new Set(Array.from({ length: 500 }, (_, index) => dealHand(`flow ${index}`, 128, 6)).flat())
    expect(used.size).toBe(128)
  })
})

const level = (name: string, shares: number, more: object = {}, limitResponse: object = { type: 'Reject' }) =>
  ({
    metadata: { name },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse, ...more } },
  }) as unknown as PriorityLevelConfiguration
const queue = (queues = 1, queueLengthLimit = 10) => ({
  type: 'Queue',
  queuing: { queues, handSize: 1, queueLengthLimit },
})

describe('shares of seats', () => {
  it('are in proportion, rounded up, part of them reserved, and others can be had beyond them', () => {
    const levels = [
      level('high', 40, { lendablePercent: 50 }),
      level('low', 100, { lendablePercent: 90, borrowingLimitPercent: 10 }),
      level('none', 0),
    ]
    expect(Object.fromEntries(seatShares(levels, 100))).toEqual({
      high: { nominal: 29, reserved: 14, most: 100 },
      low: { nominal: 72, reserved: 7, most: 79 },
      none: { nominal: 0, reserved: 0, most: 100 },
    })
  })

  it('are none where nobody has one', () => {
    expect(seatShares([level('a', 0)], 100).get('a')).toEqual({ nominal: 0, reserved: 0, most: 100 })
  })

  it('count what is set aside for what is exempt', () => {
    const exempt = { metadata: { name: 'exempt' }, spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 50 } } }
    const shares = seatShares([exempt as unknown as PriorityLevelConfiguration, level('a', 50)], 10)
    expect(shares.get('a')?.nominal).toBe(5)
  })
})

describe('the queues of a level', () => {
  const request = (flow: string, id = '', work = 1) => ({ flow, id, work })

  it('take turns, so that a flow that sends much does not keep others waiting', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    for (let index = 0; index < 5; index++) queues.add(request('loud', String(index)))
    for (let index = 0; index < 2; index++) queues.add(request('quiet', String(index)))
    const order = Array.from({ length: 7 }, () => queues.next()).map((each) => `${each?.flow} ${each?.id}`)
    expect(order).toEqual(['loud 0', 'quiet 0', 'loud 1', 'quiet 1', 'loud 2', 'loud 3', 'loud 4'])
    expect(queues.next()).toBeUndefined()
  })

  it('give a flow that comes late no more than its turn', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    for (let index = 0; index < 6; index++) queues.add(request('early', String(index)))
    for (let turn = 0; turn < 3; turn++) queues.next()
    for (let index = 0; index < 3; index++) queues.add(request('late', String(index)))
    const order = Array.from({ length: 6 }, () => queues.next()?.flow)
    expect(order.slice(0, 4).toSorted()).toEqual(['early', 'early', 'late', 'late'])
  })

  it('give a flow whose requests are much work fewer turns', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    for (let index = 0; index < 2; index++) queues.add(request('loud', String(index), 3))
    for (let index = 0; index < 6; index++) queues.add(request('quiet', String(index)))
    const order = Array.from({ length: 8 }, () => queues.next()).map((each) => each?.flow)
    expect([order.indexOf('loud'), order.lastIndexOf('loud')]).toEqual([2, 6])
  })

  it('are those of the hand with the least work, and not the shortest', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 2, handSize: 2, queueLengthLimit: 3 })
    queues.add(request('one', 'wide', 5))
    for (const id of ['a', 'b', 'c']) queues.add(request('one', id))
    // The queue with the three is full, though it has less work to do.
    expect(queues.add(request('one', 'd'))).toBe(false)
  })

  it('tell whose turn it is before it is', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 1, handSize: 1, queueLengthLimit: 3 })
    expect(queues.peek()).toBeUndefined()
    const [first, second] = [request('a', '1'), request('a', '2')]
    queues.add(first)
    queues.add(second)
    expect([queues.peek(), queues.next(), queues.peek()]).toEqual([first, first, second])
  })

  it('give a flow that comes back after each of its turns no more than its turn', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    for (let index = 0; index < 4; index++) queues.add(request('patient', String(index)))
    queues.add(request('eager'))
    const order = Array.from({ length: 7 }, () => {
      const next = queues.next()
      if (next?.flow === 'eager') queues.add(request('eager'))
      return next?.flow
    })
    expect(order).toEqual(['patient', 'eager', 'patient', 'eager', 'patient', 'eager', 'patient'])
  })

  it('give a flow that comes back in the same round no second turn in it', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    queues.add(request('eager'))
    for (let index = 0; index < 3; index++) queues.add(request('patient', String(index)))
    expect([queues.next()?.flow, queues.next()?.flow]).toEqual(['eager', 'patient'])
    queues.add(request('eager'))
    expect([queues.next()?.flow, queues.next()?.flow]).toEqual(['patient', 'eager'])
  })

  it('take no turn from a flow whose request has gone before it came', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    const gone = request('impatient')
    queues.add(gone)
    queues.remove(gone)
    queues.add(request('impatient'))
    queues.add(request('other'))
    expect(queues.next()?.flow).toBe('impatient')
    queues.add(request('impatient', 'again'))
    queues.add(request('late'))
    expect([queues.next()?.flow, queues.next()?.flow]).toEqual(['other', 'late'])
  })

  it('let a flow that has waited long enough begin where the others are', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 64, handSize: 1, queueLengthLimit: 100 })
    queues.add(request('rare'))
    for (let index = 0; index < 6; index++) queues.add(request('busy', String(index)))
    expect([queues.next()?.flow, queues.next()?.flow, queues.next()?.flow]).toEqual(['rare', 'busy', 'busy'])
    // Two rounds later it has had no turn in this one.
    queues.add(request('rare'))
    expect([queues.next()?.flow, queues.next()?.flow]).toEqual(['rare', 'busy'])
  })

  it('have an end, each, and a flow waits in the shortest of its hand', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 2, handSize: 2, queueLengthLimit: 2 })
    const taken = Array.from({ length: 5 }, (_, index) => queues.add(request('one', String(index))))
    expect(taken).toEqual([true, true, true, true, false])
    expect(queues.add(request('one', 'old'), true)).toBe(true)
    expect(queues.size).toBe(5)
  })

  it('forget who has gone', () => {
    const queues = new LevelQueues<ReturnType<typeof request>>({ queues: 1, handSize: 1, queueLengthLimit: 10 })
    const [first, second] = [request('a', '1'), request('a', '2')]
    queues.add(first)
    queues.add(second)
    queues.remove(first)
    expect(queues.next()).toBe(second)
    queues.remove(second)
    expect(queues.size).toBe(0)
  })
})

class Requests {
  readonly seats: Seats
  readonly seated: string[] = []
  /** Those whose turn it was with too few seats, as often as that was. */
  readonly short: string[] = []
  readonly #byId = new Map<string, SeatRequest>()

  constructor(total: number, levels: readonly PriorityLevelConfiguration[]) {
    this.seats = new Seats(total)
    this.seats.set(levels)
  }

  ask(id: string, levelName: string, flow = '', seats = 1): string {
    const request = {
      level: levelName,
      flow,
      seats,
      work: seats,
      onSeat: () => void this.seated.push(id),
      onShort: () => void this.short.push(id),
    }
    this.#byId.set(id, request)
    return this.seats.request(request)
  }

  leave(id: string): void {
    const request = this.#byId.get(id)
    if (request !== undefined) this.seats.leave(request)
  }

  counts(name: string) {
    return this.seats.levels().find((each) => each.name === name)
  }
}

describe('seats', () => {
  it('are measured against those of the level, or a tenth of all where it has none, and waiting against all places', () => {
    const seats = new Seats(30)
    seats.set([level('refusing', 2), level('queueing', 1, {}, queue(3, 2)), level('borrowing', 0)])
    expect(seats.limitsOf('refusing')).toEqual({ seats: 20, places: 1 })
    expect(seats.limitsOf('queueing')).toEqual({ seats: 10, places: 6 })
    expect(seats.limitsOf('unknown')).toEqual({ seats: 3, places: 1 })
    expect(seats.limitsOf('borrowing')).toEqual({ seats: 3, places: 1 })
  })

  it('are as many as a level has; who comes then is refused or waits, and follows when one is given back', () => {
    const requests = new Requests(4, [level('refusing', 2), level('queueing', 2, {}, queue(1, 1))])
    expect(['a', 'b', 'c'].map((id) => requests.ask(id, 'refusing'))).toEqual(['seated', 'seated', 'refused'])
    expect(['d', 'e', 'f', 'g'].map((id) => requests.ask(id, 'queueing'))).toEqual([
      'seated',
      'seated',
      'waiting',
      'refused',
    ])
    requests.leave('a')
    expect(requests.seated).toEqual([])
    requests.leave('d')
    expect(requests.seated).toEqual(['f'])
    expect(requests.counts('queueing')).toEqual({
      name: 'queueing',
      nominal: 2,
      reserved: 2,
      most: 4,
      seated: 2,
      waiting: 0,
    })
  })

  it('are lent to others while their level does not use them, and its own requests come first when they are given back', () => {
    const lender = level('lender', 1, { lendablePercent: 100 }, queue())
    const requests = new Requests(4, [lender, level('borrower', 1, {}, queue())])
    expect(['a', 'b', 'c', 'd', 'e'].map((id) => requests.ask(id, 'borrower'))).toEqual([
      'seated',
      'seated',
      'seated',
      'seated',
      'waiting',
    ])
    expect(requests.ask('own', 'lender')).toBe('waiting')
    requests.leave('a')
    expect(requests.seated).toEqual(['own'])
    requests.leave('b')
    expect(requests.seated).toEqual(['own', 'e'])
  })

  it('go to the level that has least of its own, and among those that borrow to that which has borrowed least', () => {
    const lender = level('lender', 4, { lendablePercent: 100 })
    const requests = new Requests(8, [lender, level('large', 3, {}, queue()), level('small', 1, {}, queue())])
    const ask = (prefix: string, count: number) => {
      for (let index = 0; index < count; index++) requests.ask(`${prefix}${index}`, prefix)
    }
    // Large has 3 of its own and 2 of the lender’s, small has 1 and 2: all 8 are in use.
    ask('large', 5)
    ask('small', 3)
    for (const name of ['large', 'small']) requests.ask(`late-${name}`, name)
    requests.leave('small0')
    expect(requests.seated).toEqual(['late-large'])
    requests.leave('large0')
    expect(requests.seated).toEqual(['late-large', 'late-small'])
  })

  it('are given to those who have none before those who have many, and last to a level without any of its own', () => {
    const lender = level('lender', 2, { lendablePercent: 100 })
    const levels = [lender, level('none', 0, {}, queue()), level('some', 1, {}, queue())]
    const requests = new Requests(3, levels)
    for (const id of ['a', 'b']) expect(requests.ask(id, 'none')).toBe('seated')
    expect(requests.ask('c', 'some')).toBe('seated')
    for (const id of ['d', 'e']) requests.ask(id, 'none')
    for (const id of ['f', 'g']) requests.ask(id, 'some')
    requests.leave('a')
    requests.leave('b')
    expect(requests.seated).toEqual(['f', 'g'])
    requests.leave('c')
    requests.leave('f')
    expect(requests.seated).toEqual(['f', 'g', 'd', 'e'])
  })

  it('are lent once, however they were divided when they were taken', () => {
    const lending = (percent: number) => level('lender', 2, { lendablePercent: percent })
    const requests = new Requests(4, [lending(0), level('borrower', 2)])
    for (const id of ['a', 'b']) expect(requests.ask(id, 'borrower')).toBe('seated')
    expect(requests.ask('c', 'borrower')).toBe('refused')
    requests.seats.set([lending(100), level('borrower', 2)])
    for (const id of ['c', 'd']) expect(requests.ask(id, 'borrower')).toBe('seated')
    expect(requests.ask('e', 'borrower')).toBe('refused')
    requests.seats.set([lending(50), level('borrower', 2)])
    requests.leave('c')
    expect(requests.ask('f', 'borrower')).toBe('refused')
    requests.leave('d')
    expect(requests.ask('g', 'borrower')).toBe('seated')
  })

  it('are given back once', () => {
    const requests = new Requests(1, [level('a', 1)])
    requests.ask('first', 'a')
    for (let times = 0; times < 3; times++) requests.leave('first')
    expect(requests.ask('second', 'a')).toBe('seated')
    expect(requests.ask('third', 'a')).toBe('refused')
  })

  it('are refused by a level that is not there, and by one that does not queue, whatever it says of queues', () => {
    const requests = new Requests(1, [level('a', 1, {}, { ...queue(), type: 'Reject' })])
    expect(requests.ask('first', 'a')).toBe('seated')
    expect(requests.ask('second', 'a')).toBe('refused')
    expect(requests.ask('third', 'b')).toBe('refused')
    requests.leave('third')
  })

  it('are waited for on, in turn, where a level gets other queues or none', () => {
    const requests = new Requests(1, [level('a', 1, {}, queue())])
    for (const id of ['first', 'second', 'third']) requests.ask(id, 'a')
    requests.seats.set([level('a', 1, {}, queue(4, 1))])
    requests.seats.set([level('a', 1)])
    expect(requests.ask('late', 'a')).toBe('refused')
    expect(requests.counts('a')).toMatchObject({ seated: 1, waiting: 2 })
    requests.leave('third')
    requests.leave('first')
    expect(requests.seated).toEqual(['second'])
    requests.leave('second')
    expect(requests.counts('a')).toMatchObject({ seated: 0, waiting: 0 })
  })

  it('are of a level until it is gone and nobody has one or waits for one', () => {
    const requests = new Requests(2, [level('a', 1, {}, queue()), level('idle', 1)])
    for (const id of ['first', 'second']) requests.ask(id, 'a')
    requests.seats.set([level('b', 1)])
    expect(requests.seats.levels().map(({ name }) => name)).toEqual(['a', 'b'])
    expect(requests.counts('a')).toMatchObject({ nominal: 1, reserved: 1, most: 1, seated: 1, waiting: 1 })
    requests.leave('first')
    expect(requests.counts('a')).toMatchObject({ seated: 1, waiting: 0 })
    requests.leave('second')
    expect(requests.seats.levels().map(({ name }) => name)).toEqual(['b'])
  })

  it('are borrowed only up to a limit, and what is reserved is lent to nobody', () => {
    const limited = level('limited', 2, { borrowingLimitPercent: 50 })
    const requests = new Requests(8, [limited, level('lender', 2, { lendablePercent: 75 })])
    const outcomes = Array.from({ length: 7 }, (_, index) => requests.ask(String(index), 'limited'))
    expect(outcomes.filter((each) => each === 'seated')).toHaveLength(6)
    expect(requests.ask('a', 'lender')).toBe('seated')
    expect(requests.ask('b', 'lender')).toBe('seated')
    expect(requests.ask('c', 'lender')).toBe('refused')
  })

  it('are taken several at a time by who needs several, who waits for them in turn', () => {
    const requests = new Requests(4, [level('a', 1, {}, queue())])
    expect([requests.ask('wide', 'a', '', 3), requests.ask('wider', 'a', '', 4), requests.ask('one', 'a')]).toEqual([
      'seated',
      'waiting',
      'waiting',
    ])
    expect([requests.counts('a')?.seated, requests.short]).toEqual([3, ['wider', 'wider']])
    requests.leave('wide')
    expect([requests.counts('a')?.seated, requests.seated]).toEqual([4, ['wider']])
    requests.leave('wider')
    expect([requests.counts('a')?.seated, requests.seated]).toEqual([1, ['wider', 'one']])
    requests.leave('one')
    expect(requests.counts('a')?.seated).toBe(0)
  })

  it('may be more than a level has: such a request is answered alone', () => {
    const requests = new Requests(4, [level('narrow', 1, { borrowingLimitPercent: 0 }, queue()), level('other', 1)])
    expect(requests.ask('one', 'narrow')).toBe('seated')
    expect(requests.ask('wide', 'narrow', '', 7)).toBe('waiting')
    requests.leave('one')
    expect(requests.seated).toEqual(['wide'])
    expect(requests.ask('two', 'narrow')).toBe('waiting')
    requests.leave('wide')
    expect(requests.seated).toEqual(['wide', 'two'])
  })

  it('are not lent past a level with more need that waits for several', () => {
    const lent = { lendablePercent: 100 }
    const levels = [level('needy', 2, lent, queue()), level('other', 1, lent, queue()), level('refusing', 1, lent)]
    const requests = new Requests(8, levels)
    expect(['a', 'b', 'c', 'd', 'e'].map((id) => requests.ask(id, 'other'))).not.toContain('waiting')
    expect(requests.ask('wide', 'needy', '', 4)).toBe('waiting')
    expect(requests.ask('late', 'other')).toBe('waiting')
    expect(requests.ask('as needy', 'refusing')).toBe('seated')
    requests.leave('a')
    expect(requests.seated).toEqual([])
    requests.leave('b')
    expect(requests.seated).toEqual(['wide'])
    requests.leave('as needy')
    expect(requests.seated).toEqual(['wide', 'late'])
  })

  it('are not waited for any more by who has gone', () => {
    const requests = new Requests(1, [level('a', 1, {}, queue())])
    requests.ask('first', 'a')
    requests.ask('second', 'a')
    requests.ask('third', 'a')
    requests.leave('second')
    requests.leave('first')
    expect(requests.seated).toEqual(['third'])
  })

  it('are divided anew while requests have them and wait: nobody is lost', () => {
    const requests = new Requests(4, [level('a', 1, {}, queue()), level('b', 1)])
    for (const id of ['1', '2', '3', '4']) requests.ask(id, 'a')
    requests.seats.set([level('b', 1), level('a', 3)])
    expect(requests.seated).toEqual(['3'])
    requests.seats.set([level('b', 1)])
    for (const id of ['1', '2']) requests.leave(id)
    expect(requests.seated).toEqual(['3'])
    requests.leave('3')
    expect(requests.seated).toEqual(['3', '4'])
    requests.leave('4')
    expect(requests.counts('a')).toBeUndefined()
  })

  it('add up, whatever comes and goes', () => {
    const levels = [
      level('a', 3, { lendablePercent: 60 }, queue(4)),
      level('b', 2, { lendablePercent: 30, borrowingLimitPercent: 20 }, queue(2, 3)),
      level('c', 1),
    ]
    const step = fc.record({
      level: fc.constantFrom('a', 'b', 'c'),
      leaves: fc.nat(40),
      flow: fc.constantFrom('x', 'y'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const requests = new Requests(10, levels)
        const held = new Set<string>()
        for (const [index, { level: name, leaves, flow }] of steps.entries()) {
          if (requests.ask(String(index), name, flow) !== 'refused') held.add(String(index))
          if (held.delete(String(leaves))) requests.leave(String(leaves))
          const counts = requests.seats.levels()
          const total = counts.reduce((sum, { seated, waiting }) => sum + seated + waiting, 0)
          expect(total).toBe(held.size)
          expect(counts.reduce((sum, { seated }) => sum + seated, 0)).toBeLessThanOrEqual(11)
        }
        for (const id of held) requests.leave(id)
        expect(requests.seats.levels().every(({ seated, waiting }) => seated === 0 && waiting === 0)).toBe(true)
      }),
    )
  })

  it('of any width add up, and everybody who waits has a turn', () => {
    const levels = [
      level('a', 3, { lendablePercent: 60 }, queue(4)),
      level('b', 2, { lendablePercent: 30, borrowingLimitPercent: 20 }, queue(2, 3)),
      level('c', 0, {}, queue()),
    ]
    const step = fc.record({
      level: fc.constantFrom('a', 'b', 'c'),
      seats: fc.integer({ min: 1, max: 12 }),
      leaves: fc.nat(40),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const requests = new Requests(10, levels)
        const widths = new Map<string, number>()
        const waits = new Set<string>()
        const check = () => {
          for (const id of requests.seated.splice(0)) waits.delete(id)
          const counts = requests.seats.levels()
          const seated = [...widths].filter(([id]) => !waits.has(id)).reduce((sum, [, seats]) => sum + seats, 0)
          expect(counts.reduce((sum, each) => sum + each.seated, 0)).toBe(seated)
          expect(counts.reduce((sum, each) => sum + each.waiting, 0)).toBe(waits.size)
        }
        const leave = (id: string) => {
          widths.delete(id)
          waits.delete(id)
          requests.leave(id)
          check()
        }
        for (const [index, { level: name, seats, leaves }] of steps.entries()) {
          const outcome = requests.ask(String(index), name, '', seats)
          if (outcome !== 'refused') widths.set(String(index), seats)
          if (outcome === 'waiting') waits.add(String(index))
          check()
          if (widths.has(String(leaves))) leave(String(leaves))
        }
        // Only those leave that have seats: the others get theirs.
        for (let id = seatedOne(); id !== undefined; id = seatedOne()) leave(id)
        function seatedOne(): string | undefined {
          return [...widths.keys()].find((each) => !waits.has(each))
        }
        expect([...waits]).toEqual([])
      }),
    )
  })
})

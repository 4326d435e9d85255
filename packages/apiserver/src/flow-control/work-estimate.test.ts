import { describe, expect, it } from 'vitest'
import { routeOf } from '../http/routes.ts'
import { type RequestWork, workOfRequest } from './request-work.ts'
import { seatsOf, widestOf, workOf } from './work-estimate.ts'

const kilobyte = 1000
const stored = (count: number, averageBytes = kilobyte) => ({ count, averageBytes })

function workFor(
  method: string,
  url: string,
  { amount, watchers = 0, widest }: { amount?: ReturnType<typeof stored>; watchers?: number; widest?: number } = {},
): RequestWork {
  const [path = '', search = ''] = url.split('?')
  const query = new URLSearchParams(search)
  const route = routeOf(method, path, () => query.get('watch') === 'true')
  return workOfRequest(route, query, { stored: () => amount, watchers: () => watchers, widest })
}

describe('the seats of a list', () => {
  const pods = '/api/v1/pods'

  it.each<[string, string, ReturnType<typeof stored> | undefined, number]>([
    ['that finds nothing', pods, stored(0), 1],
    ['of what another server has', pods, undefined, 1],
    ['of a little', pods, stored(99), 1],
    ['are one for each 100 kB', pods, stored(101), 2],
    ['from the cache are ten at most, since it is sent as it goes', pods, stored(100_000), 10],
    ['as of any version', `${pods}?resourceVersion=0`, stored(100_000), 10],
    ['as of a version at least', `${pods}?resourceVersion=7&resourceVersionMatch=NotOlderThan`, stored(100_000), 10],
    ['as of exactly a version', `${pods}?resourceVersion=7&resourceVersionMatch=Exact`, stored(5_000), 50],
    [
      'as of exactly a version are a hundred at most',
      `${pods}?resourceVersion=7&resourceVersionMatch=Exact`,
      stored(1e6),
      100,
    ],
    ['as of a version that a limit makes exact', `${pods}?resourceVersion=7&limit=1000`, stored(5_000), 10],
    ['that goes on', `${pods}?continue=abc&limit=2000`, stored(5_000), 20],
    [
      'that goes on, with few objects left to find',
      `${pods}?continue=abc&limit=500&labelSelector=a`,
      stored(5_000),
      25,
    ],
    ['of the past, selecting by a field', `${pods}?continue=abc&limit=500&fieldSelector=a%3Db`, stored(5_000), 25],
    ['with a limit', `${pods}?limit=200`, stored(5_000), 2],
    ['of one object', `${pods}?fieldSelector=metadata.name%3Da`, stored(5_000), 1],
    ['of one large object', `${pods}?fieldSelector=metadata.name%3Da`, stored(5, 300 * kilobyte), 3],
    ['that cannot be read', `${pods}?limit=x`, stored(5), 100],
    ['that waits a time that cannot be read', `${pods}?timeoutSeconds=x`, stored(5), 100],
  ])('%s', (_which, url, amount, seats) => {
    expect(workFor('GET', url, amount === undefined ? {} : { amount })).toEqual({
      initialSeats: seats,
      finalSeats: 0,
      lingersMs: 0,
    })
  })

  it('are no more than the level lets a request have', () => {
    expect(workFor('GET', pods, { amount: stored(100_000), widest: 4 }).initialSeats).toBe(4)
    expect(workFor('GET', `${pods}?limit=x`, { amount: stored(1), widest: 4 }).initialSeats).toBe(4)
  })

  it.each<[string, string, number]>([
    ['that begins with what is there', 'resourceVersion=5&sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 3],
    ['from no version, which begins with what is there', '', 3],
    ['from version 0, likewise', 'resourceVersion=0', 3],
    ['that goes on from a version', 'resourceVersion=5', 1],
  ])('count for a watch %s', (_which, search, seats) => {
    expect(workFor('GET', `${pods}?watch=true&${search}`, { amount: stored(300) }).initialSeats).toBe(seats)
  })
})

describe('the seats of a write', () => {
  const pod = '/api/v1/namespaces/a/pods/p'

  it.each<[watchers: number, finalSeats: number, lingersMs: number]>([
    [0, 0, 0],
    [9, 0, 0],
    [10, 1, 5],
    [25, 3, 5],
    [100, 10, 5],
    [1000, 10, 50],
  ])('where %i watch it are %i for %i ms after its answer', (watchers, finalSeats, lingersMs) => {
    expect(workFor('PUT', pod, { watchers })).toEqual({ initialSeats: 1, finalSeats, lingersMs, watchers })
  })

  it('are no more than the level lets it have, for longer in exchange', () => {
    expect(workFor('DELETE', pod, { watchers: 100, widest: 4 })).toMatchObject({ finalSeats: 4, lingersMs: 12.5 })
  })

  it.each<[string, string, string, boolean]>([
    ['a creation', 'POST', '/api/v1/namespaces/a/pods', true],
    ['a patch', 'PATCH', pod, true],
    ['a change of the status', 'PUT', `${pod}/status`, true],
    ['the deletion of a collection', 'DELETE', '/api/v1/namespaces/a/pods', false],
    ['a token', 'POST', '/api/v1/namespaces/a/serviceaccounts/p/token', false],
    ['a connection', 'POST', `${pod}/exec`, false],
    ['a read', 'GET', pod, false],
    ['a path', 'POST', '/healthz', false],
  ])('%s (%s %s) counts those who watch: %s', (_which, method, url, counts) => {
    expect('watchers' in workFor(method, url, { watchers: 100 })).toBe(counts)
  })
})

it('most seats of a request are 15 % of those of its level, and what a queue has by right', () => {
  expect([widestOf(60, 6), widestOf(245, 8), widestOf(20, 6), widestOf(20, 1), widestOf(0, 6)]).toEqual([
    9, 30, 3, 3, 1,
  ])
})

it('what is set aside is the more of both phases, and the work is both', () => {
  const work = { initialSeats: 1, finalSeats: 3, lingersMs: 6 }
  expect([seatsOf(work), seatsOf({ ...work, initialSeats: 5 }), workOf(work)]).toEqual([3, 5, 7])
})

import { ApiError, type Cause } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { httpCauses, readCauses, readChain } from './causes.ts'

const causeOf = (revision: number, seen?: readonly number[]): Cause => ({
  apiVersion: 'coracle.dev/v1',
  kind: 'Cause',
  metadata: { name: String(revision), creationTimestamp: '2026-01-01T00:00:00Z' },
  revision,
  changes: [],
  user: 'jane',
  request: { verb: 'update' },
  ...(seen && { reconcile: { controller: 'c', object: { apiVersion: 'v1', kind: 'Pod', name: 'p' }, seen } }),
})

/** A server with these causes; `pageSize` is how many it gives at once. */
function serverWith(causes: readonly Cause[], pageSize = 100) {
  const asked: string[] = []
  const source = httpCauses({
    async rawGet(path) {
      asked.push(path)
      const query = new URL(path, 'https://server').searchParams
      const revisions = query.get('revision')?.split(',').map(Number)
      const before = Number(query.get('continue') ?? Number.POSITIVE_INFINITY)
      const found = causes.filter(({ revision }) => revision < before && (revisions?.includes(revision) ?? true))
      const items = found.slice(0, Math.min(pageSize, Number(query.get('limit') ?? pageSize)))
      const metadata = items.length < found.length ? { continue: String(items.at(-1)?.revision) } : {}
      return JSON.stringify({ apiVersion: 'coracle.dev/v1', kind: 'CauseList', metadata, items })
    },
  })
  return { source, asked }
}

describe('the causal record of a server', () => {
  it('is read page by page, as far as wanted', async () => {
    const { source, asked } = serverWith(
      [5, 4, 3, 2, 1].map((revision) => causeOf(revision)),
      2,
    )
    const revisions = (causes: readonly Cause[] | undefined) => causes?.map(({ revision }) => revision)
    expect(revisions(await readCauses(source, { resource: 'pods', name: 'web' }, 3))).toEqual([5, 4, 3])
    expect(asked).toEqual([
      '/apis/coracle.dev/v1/causes?resource=pods&name=web&limit=3',
      '/apis/coracle.dev/v1/causes?resource=pods&name=web&limit=1&continue=4',
    ])
    expect(revisions(await readCauses(source, {}, 100))).toEqual([5, 4, 3, 2, 1])
  })

  it('is undefined where a server has none', async () => {
    const source = httpCauses({ rawGet: () => Promise.reject(new ApiError(404, 'NotFound', 'no such path')) })
    expect(await readCauses(source, {}, 10)).toBeUndefined()
    expect(await readChain(source, 7)).toEqual([])
  })

  it('leads from a revision to what caused it, with a question for each step', async () => {
    const { source, asked } = serverWith([causeOf(9, [7, 5]), causeOf(7, [3]), causeOf(5), causeOf(3), causeOf(1)])
    const chain = await readChain(source, 9)
    expect(chain.map(({ cause, from }) => [cause.revision, from])).toEqual([
      [9, [7, 5]],
      [7, [3]],
      [5, []],
      [3, []],
    ])
    expect(asked).toHaveLength(3)
  })
})

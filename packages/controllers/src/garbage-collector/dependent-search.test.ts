import { type ConfigMap, configMaps, type KubernetesObject } from '@coracle/api'
import { expect, it } from 'vitest'
import { DependentSearch } from './dependent-search.ts'

const owned = (name: string, ...uids: readonly string[]): ConfigMap => ({
  apiVersion: 'v1',
  kind: configMaps.kind,
  metadata: {
    namespace: 'default',
    name,
    ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })),
  },
})

/** A search whose reads end when they are told to. */
function searchable() {
  const reads: { readonly namespace: string; readonly end: PromiseWithResolvers<readonly KubernetesObject[]> }[] = []
  const search = new DependentSearch((namespace) => {
    const end = Promise.withResolvers<readonly KubernetesObject[]>()
    reads.push({ namespace, end })
    return end.promise
  })
  const namesOf = async (uid: string, namespace = 'default') =>
    (await search.dependentsOf({ namespace, uid })).map(({ metadata }) => metadata.name)
  const answer = async (...objects: readonly KubernetesObject[]) => {
    reads.at(-1)?.end.resolve(objects)
    await turns()
  }
  return { reads, namesOf, answer }
}

/** Lets all that waits for nothing but promises go on. */
const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

it('gives everybody who shares a search what is theirs', async () => {
  const { reads, namesOf, answer } = searchable()
  const found = Promise.all([namesOf('a'), namesOf('b'), namesOf('c'), namesOf('a')])
  await turns()
  expect(reads).toHaveLength(1)
  await answer(owned('one', 'a'), owned('both', 'a', 'b'), owned('other', 'd'), owned('twice', 'b', 'b'))
  expect(await found).toEqual([['one', 'both'], ['both', 'twice'], [], ['one', 'both']])
})

it('begins another search for those who ask when one is under way, and one for them all', async () => {
  const { reads, namesOf, answer } = searchable()
  const first = namesOf('a')
  await turns()
  const later = Promise.all([namesOf('a'), namesOf('b')])
  await turns()
  expect(reads).toHaveLength(1)
  await answer(owned('early', 'a'))
  expect(await first).toEqual(['early'])
  expect(reads).toHaveLength(2)
  await answer(owned('early', 'a'), owned('late', 'a', 'b'))
  expect(await later).toEqual([['early', 'late'], ['late']])
})

it('searches namespaces beside one another', async () => {
  const { reads, namesOf } = searchable()
  void namesOf('a', 'one')
  void namesOf('a', 'two')
  await turns()
  expect(reads.map(({ namespace }) => namespace)).toEqual(['one', 'two'])
})

it('fails for those who share a search, and not for those who ask later', async () => {
  const { reads, namesOf, answer } = searchable()
  const failing = Promise.allSettled([namesOf('a'), namesOf('b')])
  await turns()
  const later = namesOf('a')
  reads[0]?.end.reject(new Error('connection lost'))
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await turns()
  await answer(owned('one', 'a'))
  expect(await later).toEqual(['one'])
})

import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import type { ListedContainer } from './answers.ts'
import { ListBatches } from './list-batches.ts'
import { dockerLabels } from './names.ts'

const listed = (Id: string, type: string): ListedContainer => ({
  Id,
  ImageID: '',
  Image: '',
  Created: 1,
  State: 'running',
  Labels: { [dockerLabels.type]: type },
})

function start() {
  const { clock } = virtualEnvironment()
  const all = [listed('s1', 'podsandbox'), listed('c1', 'container')]
  const asked: string[] = []
  const batches = new ListBatches(clock, async (type, { pod }) => {
    asked.push(`${type ?? 'all'} of ${pod}`)
    if (pod === 'broken') throw new Error('no answer')
    return all.filter(({ Labels }) => type === undefined || Labels?.[dockerLabels.type] === type)
  })
  const list = async (type: string, pod: string) => (await batches.list(type, { pod })).map(({ Id }) => Id)
  return { clock, asked, all, list }
}

it('has one list for what is asked for at the same time, and gives each what it has asked for', async () => {
  const { clock, asked, list } = start()
  const answers = Promise.all([
    list('podsandbox', 'a'),
    list('container', 'a'),
    list('container', 'a'),
    list('container', 'b'),
  ])
  await clock.settle()
  expect(await answers).toEqual([['s1'], ['c1'], ['c1'], ['c1']])
  expect(asked).toEqual(['all of a', 'container of b'])
})

it('has a new list for who asks later', async () => {
  const { clock, asked, all, list } = start()
  const first = list('container', 'a')
  await clock.settle()
  all.push(listed('c2', 'container'))
  const second = list('container', 'a')
  await clock.settle()
  expect([await first, await second]).toEqual([['c1'], ['c1', 'c2']])
  expect(asked).toEqual(['container of a', 'container of a'])
})

it('tells all who have asked that there is no answer', async () => {
  const { clock, list } = start()
  const answers = Promise.allSettled([list('podsandbox', 'broken'), list('container', 'broken')])
  await clock.settle()
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

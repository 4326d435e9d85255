import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { SharedCall } from './shared-call.ts'

/** A question whose answers, numbered from 1, come when the test gives them. */
function harness() {
  const { clock } = virtualEnvironment()
  const asked: PromiseWithResolvers<number>[] = []
  const heard: string[] = []
  const shared = new SharedCall(() => {
    const answer = Promise.withResolvers<number>()
    asked.push(answer)
    return answer.promise
  })
  const call = (name: string) =>
    void shared.call().then(
      (answer) => heard.push(`${name}: ${answer}`),
      (error: Error) => heard.push(`${name}: ${error.message}`),
    )
  const answer = async (index: number) => {
    asked[index]?.resolve(index + 1)
    await clock.settle()
  }
  return { call, answer, asked, heard, settle: () => clock.settle() }
}

describe('a question that many ask', () => {
  it('is asked once for those who come at the same moment', async () => {
    const { call, answer, asked, heard, settle } = harness()
    call('a')
    call('b')
    expect(asked).toEqual([])
    await settle()
    expect(asked).toHaveLength(1)
    await answer(0)
    expect(heard).toEqual(['a: 1', 'b: 1'])
  })

  it('is asked again, once, for those who come while it is under way', async () => {
    const { call, answer, asked, heard, settle } = harness()
    call('a')
    await settle()
    call('b')
    await settle()
    call('c')
    await settle()
    expect(asked).toHaveLength(1)
    await answer(0)
    expect([heard, asked.length]).toEqual([['a: 1'], 2])
    call('d')
    await answer(1)
    expect([heard.slice(1), asked.length]).toEqual([['b: 2', 'c: 2'], 3])
    await answer(2)
    expect(heard.at(-1)).toBe('d: 3')
  })

  it('is asked again after a failure, which those hear who asked it', async () => {
    const { call, answer, asked, heard, settle } = harness()
    call('a')
    await settle()
    call('b')
    asked[0]?.reject(new Error('gone'))
    await settle()
    expect([heard, asked.length]).toEqual([['a: gone'], 2])
    await answer(1)
    expect(heard.at(-1)).toBe('b: 2')
  })
})

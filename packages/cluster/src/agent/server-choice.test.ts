import { ApiError, nodes } from '@coracle/api'
import type { ClientCall } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { callPatienceMs, readinessTimeoutMs, ServerChoice } from './server-choice.ts'

const [first, second, third] = ['https://10.0.0.1:6443', 'https://10.0.0.2:6443', 'https://10.0.0.3:6443'] as const
const refused = () => Promise.reject(new Error('cannot reach it'))
const never = () => new Promise<never>(() => {})

/** An agent that uses the first of its servers. `is`: how each server is: ready, not ready, gone, or silent. */
function setUp(known: readonly string[], is: Record<string, 'ready' | 'unready' | 'gone' | 'silent'>) {
  const environment = virtualEnvironment()
  const used: string[] = []
  const asked: string[] = []
  const choice = new ServerChoice(first, known, {
    environment,
    async isReady(server, signal) {
      asked.push(server)
      switch (is[server]) {
        case 'ready':
        case 'unready':
          return is[server] === 'ready'
        case 'silent':
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        default:
          return refused()
      }
    },
    use: (server) => void used.push(server),
  })
  const call = async (proceed: () => Promise<unknown>, verb: ClientCall['verb'] = 'get') => {
    const of = { verb, resource: nodes, namespace: undefined, name: 'far', subresource: '' }
    return choice.call(of, proceed).catch((error: Error) => error.message)
  }
  return { choice, clock: environment.clock, is, used, asked, call }
}

describe('an agent stays with its server', () => {
  it('while calls succeed, and asks nobody whether they are ready', async () => {
    const { call, clock, asked, used } = setUp([first, second], { [first]: 'ready', [second]: 'ready' })
    expect(await call(async () => 'found')).toBe('found')
    await clock.advance('1h')
    expect([asked, used]).toEqual([[], []])
  })

  it('where what fails is refused, and not for want of the server', async () => {
    const { call, clock, asked } = setUp([first, second], { [second]: 'ready' })
    expect(await call(() => Promise.reject(new ApiError(404, 'NotFound', 'it is not there')))).toBe('it is not there')
    await clock.settle()
    expect(asked).toEqual([])
  })

  it.each([['ready'], ['gone']] as const)('that is %s, where no other is ready', async (state) => {
    const { call, clock, used, asked } = setUp([first, second], { [first]: state, [second]: 'unready' })
    await call(refused)
    await clock.settle()
    expect(used).toEqual([])
    expect(asked).toEqual(state === 'ready' ? [first] : [first, second])
  })

  it('where it knows of no other', async () => {
    const { call, clock, used, asked } = setUp([first], {})
    await call(refused)
    await clock.settle()
    expect([used, asked]).toEqual([[], []])
  })
})

describe('an agent goes to another server that is ready', () => {
  it('where its own cannot be reached, and tells who calls all the same', async () => {
    const { call, clock, used } = setUp([first, second, third], { [second]: 'unready', [third]: 'ready' })
    expect(await call(refused)).toBe('cannot reach it')
    await clock.settle()
    expect(used).toEqual([third])
  })

  it('where its own has lost its store', async () => {
    const { call, clock, used } = setUp([first, second], { [first]: 'unready', [second]: 'ready' })
    await call(() => Promise.reject(new ApiError(503, 'ServiceUnavailable', 'the store is not available')))
    await clock.settle()
    expect(used).toEqual([second])
  })

  it('where its own says nothing any more, and only a watch may take long', async () => {
    const { call, clock, used, asked } = setUp([first, second], { [first]: 'silent', [second]: 'ready' })
    void call(never, 'watch')
    await clock.advance(callPatienceMs * 10)
    expect(asked).toEqual([])
    void call(never)
    await clock.advance(callPatienceMs - 1)
    expect(asked).toEqual([])
    await clock.advance(readinessTimeoutMs + 1)
    expect(used).toEqual([second])
  })

  it('and back where that is gone in its turn, however many calls fail', async () => {
    const { call, clock, used, is } = setUp([first, second], { [second]: 'ready' })
    await Promise.all([call(refused), call(refused), call(refused)])
    await clock.settle()
    Object.assign(is, { [first]: 'ready', [second]: 'gone' })
    await Promise.all([call(refused), call(refused)])
    await clock.settle()
    expect(used).toEqual([second, first])
  })

  it('that it has learned of, and not to one that is none any more', async () => {
    const { call, clock, used, choice, asked } = setUp([first, second], { [second]: 'ready', [third]: 'ready' })
    expect([choice.learn([third, first, third]), choice.learn([first, third])]).toEqual([true, false])
    await call(refused)
    await clock.settle()
    expect([used, asked]).toEqual([[third], [first, third]])
  })

  it('but for when it is stopped meanwhile', async () => {
    const { call, clock, used, choice, asked } = setUp([first, second], { [first]: 'silent', [second]: 'ready' })
    await call(refused)
    await choice.stop()
    await call(refused)
    await clock.settle()
    expect([used, asked]).toEqual([[], [first]])
  })
})

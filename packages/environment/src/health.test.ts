import { describe, expect, it } from 'vitest'
import { answerCheck, answerHealth, type HealthCheck, ping } from './health.ts'

const broken: HealthCheck = { name: 'disk', check: async () => 'it is full' }
const query = (text = '') => new URLSearchParams(text)

describe('health', () => {
  it('is ok in one word where all checks hold, and in a line each to those who ask', async () => {
    expect(await answerHealth('readyz', [ping], query())).toEqual({ code: 200, text: 'ok', problems: [] })
    const { text } = await answerHealth('readyz', [ping], query('verbose'))
    expect(text).toBe('[+]ping ok\nreadyz check passed\n')
  })

  it('names the checks that fail, and tells only the log why', async () => {
    expect(await answerHealth('readyz', [ping, broken], query())).toEqual({
      code: 500,
      text: '[+]ping ok\n[-]disk failed: reason withheld\nreadyz check failed\n',
      problems: [{ check: 'disk', reason: 'it is full' }],
    })
  })

  it('leaves out what is excluded, and says which names are none', async () => {
    const { code, text } = await answerHealth(
      'livez',
      [ping, broken],
      query('verbose&exclude=disk&exclude=b&exclude=a'),
    )
    expect(code).toBe(200)
    expect(text).toBe(
      '[+]ping ok\n[+]disk excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nlivez check passed\n',
    )
  })

  it('answers for one check alone', async () => {
    expect(await answerCheck(ping)).toEqual({ code: 200, text: 'ok', problems: [] })
    expect(await answerCheck(broken)).toMatchObject({ code: 500, text: 'internal server error: it is full\n' })
  })
})

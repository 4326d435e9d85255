import { describe, expect, it } from 'vitest'
import { type Found, WriteLog } from './write-log.ts'

/** A log in which `a` was created as `one` at revision 5 and acknowledged. */
function logOfOne(): WriteLog {
  const log = new WriteLog()
  log.acknowledge(log.request('a', 'one'), 5)
  return log
}

/** What is reported when a server comes back with these objects. */
function problems(log: WriteLog, objects: Readonly<Record<string, Found>>, revision = 5): readonly string[] {
  log.judge(new Map(Object.entries(objects)), revision)
  return log.problems
}

const one = { revision: 5, label: 'one' }
const two = { revision: 6, label: 'two' }

describe('a log of writes', () => {
  it('accepts what was acknowledged, and nothing else', () => {
    expect(problems(logOfOne(), { a: one })).toEqual([])
    expect(problems(logOfOne(), {})).toEqual(['a is lost: it was one at revision 5'])
    expect(problems(logOfOne(), { a: two }, 6)).toEqual(['a is two at revision 6, which is not what was written last'])
    expect(problems(logOfOne(), { a: { ...one, label: 'two' } })).toEqual([
      'a is two at revision 5 and not one at revision 5',
      'revision 5 was given to a one and to a two',
    ])
    expect(problems(logOfOne(), { a: one, b: { revision: 4, label: 'x' } })).toEqual([
      'b is x at revision 4, which is not what was written last',
    ])
  })

  it('accepts an unanswered write carried out or not', () => {
    for (const objects of [{ a: one }, { a: two }]) {
      const log = logOfOne()
      log.request('a', 'two')
      expect(problems(log, objects, 6)).toEqual([])
    }
    for (const objects of [{ a: one }, {}]) {
      const log = logOfOne()
      log.request('a')
      expect(problems(log, objects)).toEqual([])
    }
  })

  it('has an unanswered write decided by the first look', () => {
    const log = logOfOne()
    log.request('a', 'two')
    expect(problems(log, { a: one })).toEqual([])
    expect(problems(log, { a: two }, 6)).toHaveLength(1)
  })

  it('accepts no write that was refused', () => {
    const log = logOfOne()
    log.refuse(log.request('a', 'two'))
    expect(problems(log, { a: two }, 6)).toHaveLength(1)
  })

  it('does not accept that what was deleted comes back', () => {
    const log = logOfOne()
    log.acknowledge(log.request('a'))
    expect(log.has('a')).toBe(false)
    expect(problems(log, { a: one })).toEqual(['a is one at revision 5 and not deleted at revision 5'])
  })

  it('takes what a watch delivered for durable, and for written', () => {
    const seen = logOfOne()
    seen.request('a', 'two')
    seen.watch('a', 'two', 6)
    expect(problems(seen, { a: one })).toEqual([
      'revision 6 is lost: the server is at 5',
      'a is one at revision 5 and not two at revision 6',
    ])
    const invented = logOfOne()
    invented.watch('a', 'two', 6)
    expect(invented.problems).toEqual(['a watch delivered a two, which nobody wrote'])
  })

  it('sees a revision that is given twice', () => {
    const log = logOfOne()
    log.acknowledge(log.request('b', 'other'), 5)
    expect(log.problems).toEqual(['revision 5 was given to a one and to b other'])
  })

  it('says only the first problems in words', () => {
    const log = new WriteLog()
    for (let index = 0; index < 30; index++) log.report(`${index}`)
    expect(log.problems).toHaveLength(21)
    expect(log.problems.at(-1)).toBe('and 10 more')
  })
})

import { describe, expect, it } from 'vitest'
import { consoleLogger, localTimeOfDay } from './console-logger.ts'

function lines(format: 'text' | 'json' | 'pino', level?: 'debug') {
  const written: string[] = []
  const now = () => Date.UTC(2026, 0, 1, 12, 0, 5)
  const options = { format, now, write: (line: string) => void written.push(line) }
  return { written, logger: consoleLogger(level === undefined ? options : { ...options, level }) }
}

describe('consoleLogger', () => {
  it('writes an object a line for programs', () => {
    const { written, logger } = lines('json')
    logger.child({ controller: 'job' }).warn('watch failed', { error: new Error('gone'), retryInMs: 800 })
    expect(written).toEqual([
      '{"time":"2026-01-01T12:00:05.000Z","level":"warn","message":"watch failed","controller":"job","error":"gone","retryInMs":800}\n',
    ])
  })

  it('writes an object as pino does for tools that read those', () => {
    const { written, logger } = lines('pino')
    logger.warn('watch failed', { error: new Error('gone') })
    expect(written).toEqual(['{"level":40,"time":1767268805000,"error":"gone","msg":"watch failed"}\n'])
  })

  it('writes a line for people that nothing in it can break', () => {
    const { written, logger } = lines('text')
    logger.info('created', { name: 'web', namespace: undefined, error: 'two\nlines\u001b[2J' })
    expect(written).toEqual([
      expect.stringMatching(/^\d\d:\d\d:05 {2}info {3}created {2}name=web {2}error="two\\nlines\\u001b\[2J"\n$/),
    ])
  })

  it.each(['text', 'json', 'pino'] as const)('bears what is no JSON, as %s', (format) => {
    const { written, logger } = lines(format)
    const circle: { self?: unknown } = {}
    circle.self = circle
    logger.warn('odd', { count: 5, circle, error: circle, name: 'web' })
    expect(written).toHaveLength(1)
    expect(written[0]).toContain('odd')
    expect(written[0]).toMatch(/count"?[=:]5/)
    expect(written[0]).toMatch(/name"?[=:]"?web/)
    if (format !== 'text') expect(JSON.parse(written[0] ?? '')).toMatchObject({ count: 5, name: 'web' })
  })

  it('leaves out what is below its level', () => {
    const quiet = lines('text')
    quiet.logger.debug('detail')
    expect(quiet.written).toEqual([])
    const loud = lines('text', 'debug')
    loud.logger.debug('detail')
    expect(loud.written).toHaveLength(1)
  })
})

describe('localTimeOfDay', () => {
  it('is what the clock on the wall shows, in 24 hours', () => {
    const wall = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
    for (const ms of [Date.UTC(2026, 0, 1), Date.UTC(2026, 6, 1, 12, 59, 9, 999), Date.UTC(2026, 6, 1, 23, 0, 0)]) {
      expect(localTimeOfDay(ms)).toBe(wall.format(ms))
    }
  })
})

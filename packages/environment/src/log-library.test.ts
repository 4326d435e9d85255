import { expect, it } from 'vitest'
import { type LogLibrary, loggerOf } from './log-library.ts'

it('writes through a library: fields first, errors as it knows them, children of its own', () => {
  const lines: unknown[] = []
  const library = (bound: object): LogLibrary => {
    const write = (level: string) => (fields: object, message: string) =>
      void lines.push([level, message, { ...bound, ...fields }])
    const child = (fields: object) => library({ ...bound, ...fields })
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), child }
  }
  const logger = loggerOf(library({})).child({ controller: 'job' })
  const error = new Error('gone')
  logger.debug('a')
  logger.info('b', { key: 'default/x' })
  logger.warn('c')
  logger.error('d', { error })
  expect(lines).toEqual([
    ['debug', 'a', { controller: 'job' }],
    ['info', 'b', { controller: 'job', key: 'default/x' }],
    ['warn', 'c', { controller: 'job' }],
    ['error', 'd', { controller: 'job', err: error }],
  ])
})

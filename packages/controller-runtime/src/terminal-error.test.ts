import { expect, it } from 'vitest'
import { isTerminal, TerminalError } from './terminal-error.ts'

const terminal = new TerminalError('spec.image is no image')
const passing = new Error('the registry is away')

const circular = new Error('a')
circular.cause = new Error('b', { cause: circular })

it.each<readonly [string, unknown, boolean]>([
  ['itself', terminal, true],
  ['as a cause', new Error('deploying', { cause: new Error('reading', { cause: terminal }) }), true],
  ['all of several', new AggregateError([terminal, new Error('x', { cause: terminal })]), true],
  ['one of several', new AggregateError([terminal, passing]), false],
  ['none of several', new AggregateError([]), false],
  ['another error', passing, false],
  ['causes in a circle', circular, false],
  ['no error', 'terminal', false],
])('is found: %s', (_, error, expected) => {
  expect(isTerminal(error)).toBe(expected)
})

import { expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

const manifest = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'

const refused = (path: string): string =>
  `Get "https://127.0.0.1:1${path}?timeout=32s": dial tcp 127.0.0.1:1: connect: connection refused`

const unvalidated = `error: error validating "STDIN": error validating data: failed to download openapi: ${refused('/openapi/v2')}; if you choose to ignore these errors, turn validation off with --validate=false\n`
const unrecognized = `unable to recognize "STDIN": ${refused('/api')}\n`.repeat(2)

it.each([
  ['apply', unvalidated],
  ['create', unvalidated],
  ['replace', unvalidated],
  ['create --validate=false', unrecognized],
  ['delete', unrecognized],
])(
  '%s -f says of each object what it needs the server for, and that nothing listens there, as kubectl',
  async (verb, stderr) => {
    const outcome = await runCommand(['--server', 'https://127.0.0.1:1', ...verb.split(' '), '-f', '-'], {
      stdin: `${manifest}\n---\n${manifest}`,
    })
    expect(outcome).toMatchObject({ code: 1, stderr })
  },
)

import { expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

const manifest = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'

it.each(['apply', 'create', 'replace', 'delete'])(
  '%s -f tells once that nothing listens at the server',
  async (verb) => {
    const outcome = await runCommand(['--server', 'https://127.0.0.1:1', verb, '-f', '-'], {
      stdin: `${manifest}\n---\n${manifest}`,
    })
    expect(outcome).toMatchObject({
      code: 1,
      stderr: 'The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n',
    })
  },
)

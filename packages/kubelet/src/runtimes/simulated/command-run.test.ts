import { describe, expect, it } from 'vitest'
import { commandRun } from './command-run.ts'
import { scriptLengthMax } from './shell-script.ts'

const sh = (script: string) => ['/bin/sh', '-c', script]
const ends = (seconds: number, exitCode: number) => ({ forMs: seconds * 1_000, exitCodes: [exitCode] })

describe('a command that tells how it ends', () => {
  it.each([
    [['true'], ends(0, 0)],
    [['/bin/false'], ends(0, 1)],
    [['echo', 'hello', '$HOME'], ends(0, 0)],
    [['sleep', '10'], ends(10, 0)],
    [['/usr/bin/sleep', '0.5'], ends(0.5, 0)],
    [['sleep', '1h', '1m', '1s'], ends(3_661, 0)],
    [['sleep', '1d'], ends(86_400, 0)],
    [['sleep', 'infinity'], ends(Number.POSITIVE_INFINITY, 0)],
    [sh('exit 3'), ends(0, 3)],
    [sh('exit 256'), ends(0, 0)],
    [sh('false; exit'), ends(0, 1)],
    [sh(''), ends(0, 0)],
    [sh('sleep 5; exit 1'), ends(5, 1)],
    [sh('sleep 5 && sleep 6\nfalse'), ends(11, 1)],
    [sh('false && sleep 5; sleep 6'), ends(6, 0)],
    [sh('false || sleep 5'), ends(5, 0)],
    [sh('true || unknown'), ends(0, 0)],
    [sh('true || unknown && exit 4'), ends(0, 4)],
    [sh('true &&\n\n  exit 2\n'), ends(0, 2)],
    [sh('false &&\n exit 2'), ends(0, 1)],
    [sh('exit 0; unknown'), ends(0, 0)],
    [sh("echo 'a; b' \"c && $NAME\" $X *.txt; /bin/sleep '7'"), ends(7, 0)],
    [['bash', '-lc', 'exit 1'], ends(0, 1)],
    [['sh', '-x', '-c', 'exit 1', 'name'], ends(0, 1)],
  ])('%j', (command, run) => {
    expect(commandRun(command, [])).toEqual(run)
  })

  it('goes on with the arguments', () => {
    expect(commandRun(['sh'], ['-c', 'exit 2'])).toEqual(ends(0, 2))
  })
})

describe('nothing is told of', () => {
  it('what an image says', () => {
    expect(commandRun([], [])).toBeUndefined()
    expect(commandRun([], ['sleep', '5'])).toBeUndefined()
  })

  it.each([
    [['server']],
    [['']],
    [['sleep']],
    [['sleep', 'long']],
    [['sleep', '$(TIME)']],
    [['sh']],
    [['sh', 'script.sh']],
    [['sh', '-ec', 'false; true']],
    [sh('unknown; exit 1')],
    [sh('unknown || exit 1')],
    [sh('if true; then exit 1; fi')],
    [sh('while true; do sleep 1; done')],
    [sh('exit $CODE')],
    [sh('exit x')],
    [sh('exit 1 2')],
    [sh('exit $((RANDOM % 2))')],
    [sh('sleep $(time)')],
    [sh('sleep `time`')],
    [sh('$SHELL 1')],
    [sh('sleep 5 & sleep 6')],
    [sh('sleep 5 | true')],
    [sh('echo x > file')],
    [sh('(exit 1)')],
    [sh('exit 1 # comment')],
    [sh('; true')],
    [sh('true &&')],
    [sh('true && ; true')],
    [sh("echo 'open")],
    [sh('echo "\\""')],
    [sh(`${' '.repeat(scriptLengthMax)}true`)],
  ])('%j', (command) => {
    expect(commandRun(command, [])).toBeUndefined()
  })
})

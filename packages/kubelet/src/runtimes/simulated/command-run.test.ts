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

  it.each([
    [sh('if true; then exit 1; fi'), ends(0, 1)],
    [sh('if false; then exit 1; fi'), ends(0, 0)],
    [sh('if sleep 1 && false; then exit 1; elif sleep 2; then sleep 3; else exit 2; fi; exit 3'), ends(6, 3)],
    [sh('if false; then exit 1; elif false; then exit 2; else if true; then exit 4; fi; fi'), ends(0, 4)],
    [sh('\nif false\nthen\n  exit 1\nelse\n  exit 0\nfi\n'), ends(0, 0)],
    [sh('false || if true; then false; fi && exit 7'), ends(0, 1)],
    [sh('if exit 5; then exit 6; fi'), ends(0, 5)],
    [sh('[ a = a ] && [[ a != b ]] && test 2 -gt 1 && [ -n x ] && [ -z "" ] && exit 8'), ends(0, 8)],
    [sh('[ 10 -lt 9 ]'), ends(0, 1)],
    [sh('[ ]'), ends(0, 1)],
    [['test', '1', '-le', '1'], ends(0, 0)],
  ])('with conditions: %j', (command, run) => {
    expect(commandRun(command, [])).toEqual(run)
  })

  const forever = ends(Number.POSITIVE_INFINITY, 0)
  it.each([
    [sh('while true; do sleep 1; done'), forever],
    [sh('trap exit TERM; while true; do sleep 1; done'), forever],
    [sh('until false; do :; done; unknown'), forever],
    [sh('while :\ndo\n  if true; then sleep 5; fi\ndone\n'), forever],
    [sh('sleep infinity; unknown'), forever],
    [sh('if sleep infinity; then unknown; fi'), forever],
    [sh('while false; do unknown; done'), ends(0, 0)],
    [sh('until sleep 2; do unknown; done; exit 3'), ends(2, 3)],
    [sh('while sleep 1; do sleep 2; exit 4; done'), ends(3, 4)],
    [sh('while exit 5; do true; done'), ends(0, 5)],
    [sh('false && while true; do true; done; exit 6'), ends(0, 6)],
  ])('with loops: %j', (command, run) => {
    expect(commandRun(command, [])).toEqual(run)
  })

  const env = [
    { name: 'INDEX', value: '5' },
    { name: 'NAME', value: 'a b' },
  ]
  it.each([
    [sh(`if [ $(expr \${INDEX} % 2) -ne 0 ]; then exit 1; else exit 0; fi`), ends(0, 1)],
    [sh('exit $((INDEX - 2))'), ends(0, 3)],
    [sh('exit "$(( $INDEX * 2 ))"'), ends(0, 10)],
    [sh('exit $(expr $INDEX / 2)'), ends(0, 2)],
    [sh(`sleep $INDEX; exit \${INDEX}1`), ends(5, 51)],
    [sh('[ "$NAME" = "a b" ] && exit 9'), ends(0, 9)],
    [sh('exit $OTHER'), undefined],
    [sh('exit $(expr INDEX + 1)'), undefined],
    [sh('exit $((INDEX / 0))'), undefined],
    [sh('exit $((INDEX % 2 + 1))'), undefined],
    [sh('[ $NAME = a ]'), undefined],
  ])('with variables of the container: %j', (command, run) => {
    expect(commandRun(command, [], env)).toEqual(run)
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
    [sh('if true; then exit 1')],
    [sh('if true; exit 1; fi')],
    [sh('then true; fi')],
    [sh('if; then true; fi x')],
    [sh('if [ -r /data/file ]; then exit 1; fi')],
    [sh('if [[ "$( cat /file )" == "" ]]; then exit 1; fi')],
    [sh('[ 1 -eq 1')],
    [sh('[ a -lt b ]')],
    [sh(`${'if true; then '.repeat(21)}true${'; fi'.repeat(21)}`)],
    [sh('while true; do unknown; done')],
    [sh('while true; do sleep 1; break; done')],
    [sh('while true; sleep 1; done')],
    [sh('while true; do sleep 1')],
    [sh('done')],
    [sh(`${'while true; do '.repeat(21)}true${'; done'.repeat(21)}`)],
    [sh('trap "exit 3" EXIT; true')],
    [sh('trap')],
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

import { Command } from 'commander'
import { expect, it } from 'vitest'
import { collect, collectCommas, durationOption, wholeNumber } from '../option-values.ts'
import { flagValuesOf } from './flag-values.ts'

const command = (...args: readonly string[]) =>
  new Command()
    .option('-f, --filename <file>', 'files', collect, [])
    .option('--memory', 'in memory')
    .option('--no-scheduler', 'none')
    .option('--store <url>', 'where')
    .option('--etcd-servers <urls>', 'where', collectCommas)
    .option('--nodes <count>', 'how many', wholeNumber({ min: 0 }))
    .addOption(durationOption('--leader-elect-lease-duration <duration>', 'how long', '15s'))
    .parse(args, { from: 'user' })

it('shows each flag, as Go prints it, and the defaults of those that are not given', () => {
  expect(flagValuesOf(command())).toEqual({
    filename: '[]',
    memory: 'false',
    scheduler: 'true',
    store: '',
    'etcd-servers': '',
    nodes: '',
    'leader-elect-lease-duration': '15s',
  })
  const given = command(
    ...['--no-scheduler', '--memory', '--nodes', '3', '-f', 'a', '-f', 'b', '--leader-elect-lease-duration', '80s'],
    ...['--etcd-servers', 'https://one:1,https://two:2'],
  )
  expect(flagValuesOf(given)).toMatchObject({
    filename: '[a,b]',
    memory: 'true',
    scheduler: 'false',
    'etcd-servers': '[https://one:1,https://two:2]',
    nodes: '3',
    'leader-elect-lease-duration': '1m20s',
  })
})

it('tells no password', () => {
  expect(flagValuesOf(command('--store', 'etcd://me:secret@one:1/x')).store).toBe('CLASSIFIED')
  expect(flagValuesOf(command('--etcd-servers', 'https://one:1,https://me:secret@two:2'))['etcd-servers']).toBe(
    'CLASSIFIED',
  )
})

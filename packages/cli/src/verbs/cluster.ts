import { type Command, Option } from 'commander'
import type { DoctorFlags } from '../commands/doctor.ts'
import type { UpFlags } from '../commands/up.ts'
import type { Host } from '../host.ts'
import { collect, collectCommas, durationOption, wholeNumber } from '../option-values.ts'
import { refuseFlagsOfNpm } from '../up/npm-flags.ts'
import { stdinText } from './shared-options.ts'

/** More nodes than this are not asked for by anyone who knows what they do to memory. */
const nodesMax = 100_000

/** Adds the commands that run and examine a cluster of this machine. */
export function addClusterVerbs(program: Command, host: Host): void {
  addUp(program, host)
  addDoctor(program, host)
}

function addUp(program: Command, host: Host): void {
  program
    .command('up')
    .argument('[files...]', 'files or directories to apply, as with -f')
    .summary('start a cluster here')
    .description('Starts a cluster in this process and tells what happens in it, until Ctrl-C.')
    .option('-f, --filename <file>', `apply what this file or directory says (${stdinText}); repeatable`, collect, [])
    .option('-R, --recursive', 'take directories with all below them')
    .option('--data-dir <directory>', 'where everything is kept', '.coracle')
    .option('--memory', 'keep objects in memory only: they are gone afterwards')
    .option('--store <url>', 'share objects with other servers: etcd://[USER:PASSWORD@]HOST:PORT[,HOST:PORT][/PREFIX]')
    .option('--etcd-servers <urls>', 'the same, as https://HOST:PORT,…', collectCommas)
    .option('--etcd-prefix <prefix>', 'what all keys in etcd begin with, before /registry')
    .option('--etcd-cafile <file>', 'certificate authority of etcd (PEM)')
    .option('--etcd-certfile <file>', 'certificate to show to etcd (PEM)')
    .option('--etcd-keyfile <file>', 'its key (PEM)')
    .addOption(
      durationOption(
        '--leader-elect-lease-duration <duration>',
        'when another server takes over from a silent one',
        '15s',
      ),
    )
    .addOption(
      durationOption('--leader-elect-renew-deadline <duration>', 'when a leader gives up that is cut off', '10s'),
    )
    .addOption(durationOption('--leader-elect-retry-period <duration>', 'how often servers try to lead', '2s'))
    .option('--listen <address>', 'address to serve the API on', '127.0.0.1')
    .option(
      '--port <number>',
      'port to serve the API on; 0 picks a free one',
      wholeNumber({ noun: 'port', min: 0, max: 65_535 }),
      6443,
    )
    .option(
      '--nodes <count>',
      'how many nodes to have; 0: only a control plane',
      wholeNumber({ min: 0, max: nodesMax }),
      1,
    )
    .option('--node-prefix <text>', 'what names of nodes begin with (node-, or the host name where objects are shared)')
    .addOption(
      new Option('--runtime <name>', 'what containers are').choices(['process', 'simulated']).default('process'),
    )
    .action(async (files: readonly string[], _options, command: Command) => {
      refuseFlagsOfNpm(
        host.variables,
        command.options.map(({ long }) => long).filter((long) => typeof long === 'string'),
      )
      const { up } = await import('../commands/up.ts')
      const flags = command.optsWithGlobals<UpFlags>()
      await up(host, { ...flags, filename: [...flags.filename, ...files] })
    })
}

function addDoctor(program: Command, host: Host): void {
  program
    .command('doctor')
    .summary('examine what a cluster has stored')
    .description('Reads everything that a stopped cluster has stored, and says what is damaged.')
    .option('--data-dir <directory>', 'where everything is kept', '.coracle')
    .option('--repair', 'go on without what is damaged: it is lost')
    .action(async (_options, command: Command) => {
      const { doctor } = await import('../commands/doctor.ts')
      await doctor(host, command.optsWithGlobals<DoctorFlags>())
    })
}

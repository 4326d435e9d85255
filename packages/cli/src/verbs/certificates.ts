import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { showHelp } from '../manual/help-arguments.ts'
import { outcomeFormatOption, withFiles, withPrinting } from './shared-options.ts'

/** Adds the commands that decide about CertificateSigningRequests. */
export function addCertificateVerbs(program: Command, host: Host): void {
  const certificate = program
    .command('certificate')
    .summary('approve and deny requests for certificates')
    .description('Decides about CertificateSigningRequests.')
    .allowExcessArguments()
    .action(() => showHelp(certificate))
  for (const [verb, summary, description, action] of [
    [
      'approve',
      'have certificates signed',
      'Approves requests: their signer makes the certificates. Whoever has one is whom it names.',
      'certificateApprove',
    ],
    ['deny', 'refuse certificates', 'Denies requests: no certificates are made.', 'certificateDeny'],
  ] as const) {
    withPrinting(withFiles(certificate.command(verb), verb).argument('[names...]', 'NAME...'))
      .summary(summary)
      .description(description)
      .option('--force', 'write it again where it is decided already')
      .addOption(outcomeFormatOption())
      .action(async (names: readonly string[], _options, command: Command) => {
        const commands = await import('../commands/certificate.ts')
        await commands[action](host, names, command.optsWithGlobals())
      })
  }
}

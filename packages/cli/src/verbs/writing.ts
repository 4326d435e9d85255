import { type Command, CommanderError, Option } from 'commander'
import { diffFailedExitCode } from '../commands/diff-exit-codes.ts'
import type { Host } from '../host.ts'
import { collect, durationText, switchOption, wholeNumber } from '../option-values.ts'
import { refusesArguments, unexpectedArguments } from '../refusals.ts'
import { readsValuesLate } from '../refused-value.ts'
import {
  dryRunOption,
  fieldManagerOption,
  labelSelectorOption,
  ownFlags,
  recordOption,
  refuseArguments,
  validateOption,
  windowsLineEndingsText,
  withFiles,
  withManifests,
  withOutcome,
  withSelectors,
} from './shared-options.ts'

/** Adds the commands that change and delete objects of any kind, as files say. */
export function addWritingVerbs(program: Command, host: Host): void {
  addApply(program, host)
  addReplace(program, host)
  addDiff(program, host)
  addEdit(program, host)
  addDelete(program, host)
}

function addApply(program: Command, host: Host): void {
  const apply = withManifests(readsValuesLate(program.command('apply')))
    .addOption(recordOption())
    .enablePositionalOptions()
    .summary('make objects as files say')
    .description('Creates the objects of files, or changes those that are there to what the files say.')
    .option('--server-side', 'let the server merge, which knows who set which field')
    .option('--force-conflicts', 'with --server-side: take over fields that others set')
    .option('--force', 'delete and create anew what cannot be changed')
    .option('--prune', 'delete what was applied before, and is in the files no more; with -l or --all')
    .option('--all', 'with --prune: whatever its labels')
    .option('--prune-allowlist <kind>', 'with --prune: only this kind, GROUP/VERSION/KIND; repeatable', collect, [])
    .addOption(cascadeOption())
    .addOption(gracePeriodOption('with --force or --prune: time to end gracefully'))
    .option(
      '--timeout <duration>',
      'with --force: how long to wait until it is gone (0s: as long as it takes)',
      durationText,
      '0s',
    )
    .addOption(alwaysWaitOption())
    .addOption(switchOption('--overwrite [boolean]', 'set fields that others have changed meanwhile, too', true))
    .addOption(
      switchOption('--openapi-patch [boolean]', 'accepted for the sake of scripts: schemas are known here', true),
    )
    .option('--subresource <name>', 'with --server-side: apply to this subresource, as status')
    .allowExcessArguments()
  // As with kubectl there are no sets unless this says so: they may change yet.
  if (host.variables.KUBECTL_APPLYSET?.toLowerCase() === 'true') apply.addOption(applySetOption())
  apply.action(async (_options, command: Command) => {
    refuseArguments(command)
    const { apply } = await import('../commands/apply/apply.ts')
    await apply(host, command.optsWithGlobals())
  })
  addLastApplied(apply, host)
}

const applySetOption = (): Option =>
  new Option(
    '--applyset <parent>',
    'with --prune: the object that keeps the set of all that is applied, RESOURCE[.GROUP]/NAME; a Secret where no resource is named',
  )

/** The commands for what an object was last applied as. */
function addLastApplied(apply: Command, host: Host): void {
  withFiles(apply.command('view-last-applied'), 'show')
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with -l or --all, TYPE')
    .summary('show what an object was last applied as')
    .description('Shows what objects were last applied as, which is noted in an annotation.')
    .addOption(labelSelectorOption())
    .option('--all', 'all objects of the type')
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { viewLastApplied } = await import('../commands/apply/view-last-applied.ts')
      await viewLastApplied(host, resources, ownFlags(command))
    })
  withOutcome(withFiles(apply.command('set-last-applied'), 'note'))
    .summary('note what an object counts as last applied as')
    .description('Notes what files say as what was last applied, and changes nothing else of the objects.')
    .option('--create-annotation', 'also where nothing is noted yet')
    .addOption(dryRunOption())
    .action(async (_options, command: Command) => {
      const { setLastApplied } = await import('../commands/apply/set-last-applied.ts')
      await setLastApplied(host, ownFlags(command))
    })
  withOutcome(withFiles(withSelectors(readsValuesLate(apply.command('edit-last-applied'))), 'edit'))
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME..., or TYPE for all of them')
    .addOption(validateOption())
    .option('--windows-line-endings', windowsLineEndingsText)
    .summary('change, in an editor, what an object was last applied as')
    .description(
      'Opens what objects were last applied as in the editor that KUBE_EDITOR or EDITOR names, and notes it as it is saved.',
    )
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { editLastApplied } = await import('../commands/apply/edit-last-applied.ts')
      await editLastApplied(host, resources, ownFlags(command))
    })
}

function addReplace(program: Command, host: Host): void {
  withManifests(readsValuesLate(program.command('replace')))
    .allowExcessArguments()
    .summary('put objects in the place of others')
    .description('Puts the objects of files in the place of those of their names.')
    .option('--force', 'delete those first, and create them anew')
    .addOption(cascadeOption())
    .addOption(gracePeriodOption('with --force: time to end gracefully'))
    .option(
      '--timeout <duration>',
      'with --force: how long to wait until they are gone (0s: as long as it takes)',
      durationText,
      '0s',
    )
    .addOption(alwaysWaitOption())
    .option('--save-config', 'note in the object what it was replaced with, for apply')
    .option('--subresource <name>', 'replace this subresource: status, scale or resize')
    .option('--raw <path>', 'put the file in the place of what the server has under a path')
    .action(async (_options, command: Command) => {
      const { replace } = await import('../commands/replace.ts')
      await replace(host, command.optsWithGlobals())
    })
}

function addDiff(program: Command, host: Host): void {
  const diff = withFiles(program.command('diff'), 'compare')
  refusesArguments(diff, unexpectedArguments(diff, 'Unexpected args'))
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CommanderError(diffFailedExitCode, error.code, error.message)
    })
    .summary('show what apply would change')
    .description('Shows how objects would differ after apply; differences are exit code 1.')
    .addOption(labelSelectorOption())
    .option('--server-side', 'as apply --server-side would')
    .option('--force-conflicts', 'with --server-side: take over fields that others set')
    .addOption(fieldManagerOption('with --server-side: who applies'))
    .option('--show-managed-fields', 'with managedFields')
    .option('--show-secrets', 'with what Secrets hold, which is masked otherwise')
    .option('--concurrency <count>', 'how many objects to compare at the same time', wholeNumber(), 1)
    .option('--prune', 'show what was applied before, and is in the files no more, as gone')
    .option('--prune-allowlist <kind>', 'with --prune: only this kind, GROUP/VERSION/KIND; repeatable', collect, [])
    .action(async (_options, command: Command) => {
      const { diff } = await import('../commands/diff.ts')
      await diff(host, command.optsWithGlobals())
    })
}

function addEdit(program: Command, host: Host): void {
  withOutcome(withFiles(withSelectors(readsValuesLate(program.command('edit'))), 'edit'))
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME..., or TYPE for all of them')
    .addOption(validateOption())
    .option('--output-patch', 'print the patch that is sent')
    .option('--save-config', 'note in the object what it was saved as, for apply')
    .option('--windows-line-endings', windowsLineEndingsText)
    .summary('change objects in an editor')
    .description('Opens objects in the editor that KUBE_EDITOR or EDITOR names, and changes them as they are saved.')
    .option('--subresource <name>', 'of this subresource: status, scale or resize')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { edit } = await import('../commands/edit.ts')
      await edit(host, resources, command.optsWithGlobals())
    })
}

function addDelete(program: Command, host: Host): void {
  withFiles(withSelectors(readsValuesLate(program.command('delete'))), 'delete')
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with -l or --all, TYPE')
    .summary('delete objects')
    .description('Deletes objects, and waits until they are gone.')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--all', 'all objects of the type')
    .addOption(cascadeOption())
    .addOption(gracePeriodOption('time to end gracefully; 0 only with --force'))
    .option('--now', 'give it one second to end')
    .option('--force', 'take pods out of the API at once')
    .addOption(switchOption('--wait [boolean]', 'wait until they are gone', true))
    .option('--timeout <duration>', 'how long to wait, such as 30s (0s: as long as it takes)', durationText, '0s')
    .addOption(
      switchOption(
        '--ignore-not-found [boolean]',
        'count an object that is not there as deleted; true with --all and selectors unless it is set to false',
      ),
    )
    .option('-i, --interactive', 'ask before anything is deleted')
    .option('--raw <path>', 'delete what the server has under a path, with the body that -f names')
    .addOption(dryRunOption())
    .option('-o, --output <format>', 'name')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { deleteObjects } = await import('../commands/delete.ts')
      await deleteObjects(host, resources, command.optsWithGlobals())
    })
}

const gracePeriodOption = (description: string): Option =>
  new Option('--grace-period <seconds>', description).argParser(wholeNumber()).default(-1)

/** Of commands that delete only to create anew, and so cannot but wait. */
const alwaysWaitOption = (): Option =>
  switchOption(
    '--wait [boolean]',
    'accepted for the sake of scripts: what is deleted to be made anew is waited for',
    false,
  )

const cascadeOption = (): Option =>
  new Option('--cascade [mode]', 'what happens to dependents: background, foreground or orphan')
    .default('background')
    .preset('background')

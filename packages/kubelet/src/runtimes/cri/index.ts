export { CriRuntimeError, type CriRuntimeOptions, openCriRuntime, podLogsDirectoryDefault } from './open-cri-runtime.ts'

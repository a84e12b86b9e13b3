import type { Rule } from '../rule.ts'
import { ACTOR_REQUIRED } from './actors.ts'
import {
  ENVIRONMENT,
  NAMED_IMPORTS,
  NO_FLOATS,
  NO_MATH_RANDOM,
  NO_NUMBERS,
  NO_PROCESS_IMPORT,
  ONE_CLOCK,
} from './ambient.ts'
import { CITATIONS_RESOLVE, NAMED_FILES_EXIST, NO_BARE_CITATIONS } from './citations.ts'
import { ENCLAVE_DOOR } from './door.ts'
import { ONE_WAY_OUT } from './egress.ts'
import { FLOORS } from './floors.ts'
import { NO_CYCLES, NO_DEAD_FILES } from './graph.ts'
import { ONE_LOG_QUERY } from './logs.ts'
import { NO_MACHINE_NAMES } from './machine.ts'
import { ADDITIVE_MIGRATIONS, SINGLE_ALTERATIONS } from './migrations.ts'
import { COUNTED_SIGNATURES } from './passkeys.ts'
import { ONE_LIST_OF_POOLS } from './pools.ts'
import { PURE_FILES } from './purity.ts'
import { NO_SINGLE_FILES, SMALL_FOLDERS } from './rooms.ts'
import { NO_BARRELS, NO_DEFAULT_EXPORTS, NO_EXPORT_ALL, NO_TWINS, SMALL_FILES } from './shape.ts'
import { NAMED_COLUMNS, OWN_TABLES, SQL_IN_STORES, SQL_WITHOUT_CLOCK, STATEMENT_VERBS } from './sql.ts'
import { NO_MODULE_STATE } from './state.ts'
import { ARRIVED_BODIES, BOUNDED_JSON, WHOLE_CHARACTERS } from './strangers.ts'
import { WORKSPACE_BORDERS } from './workspaces.ts'

export const ALL_RULES: readonly Rule[] = [
  FLOORS,
  NAMED_IMPORTS,
  WORKSPACE_BORDERS,
  ENCLAVE_DOOR,
  ONE_WAY_OUT,
  PURE_FILES,
  ACTOR_REQUIRED,
  ENVIRONMENT,
  NO_PROCESS_IMPORT,
  ONE_CLOCK,
  COUNTED_SIGNATURES,
  ONE_LOG_QUERY,
  ONE_LIST_OF_POOLS,
  NO_MATH_RANDOM,
  NO_FLOATS,
  NO_NUMBERS,
  NO_MODULE_STATE,
  SQL_IN_STORES,
  SQL_WITHOUT_CLOCK,
  OWN_TABLES,
  NAMED_COLUMNS,
  ADDITIVE_MIGRATIONS,
  SINGLE_ALTERATIONS,
  STATEMENT_VERBS,
  NO_BARRELS,
  NO_EXPORT_ALL,
  NO_DEFAULT_EXPORTS,
  NO_TWINS,
  WHOLE_CHARACTERS,
  BOUNDED_JSON,
  ARRIVED_BODIES,
  NO_SINGLE_FILES,
  NO_CYCLES,
  NO_DEAD_FILES,
  NO_MACHINE_NAMES,
  CITATIONS_RESOLVE,
  NO_BARE_CITATIONS,
  NAMED_FILES_EXIST,
]

/** What these rules find is printed, and is no failure: a long file can be the simplest one. */
export const LISTED_RULES: readonly Rule[] = [SMALL_FILES, SMALL_FOLDERS]

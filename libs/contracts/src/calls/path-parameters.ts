import { z } from "zod";
import { PoolName, ScheduleId, TypeName } from "../ids.ts";

/** The parameters in the paths of calls. A new one is described here. */
export const PATH_PARAMETERS = {
  ref: z
    .string()
    .describe("the observer's name or id; one that is Deleted is found by its id alone")
    .meta({ examples: ["shop-front"] }),
  service: z
    .string()
    .describe("the service's name or id; of several boots of one name the one that lives")
    .meta({ examples: ["observer-service-1"] }),
  errorId: z
    .string()
    .regex(/^[0-9]{1,18}$/)
    .describe("the `id` of an entry in GET /errors")
    .meta({ examples: ["42"] }),
  taskId: z
    .guid()
    .describe("the task's id")
    .meta({ examples: ["01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41"] }),
  timerId: z
    .uuid()
    .describe("the timer's id, chosen by the client")
    .meta({ examples: ["01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41"] }),
  flowId: z
    .uuid()
    .describe("the flow's id")
    .meta({ examples: ["01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f71"] }),
  workId: z
    .uuid()
    .describe("the work's id")
    .meta({ examples: ["01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f91"] }),
  scheduleId: ScheduleId.describe("the schedule's id, chosen by the client").meta({ examples: ["nightly-report"] }),
  pool: PoolName.describe("the pool's name").meta({ examples: ["default"] }),
  taskType: TypeName.describe("the name of a task type").meta({ examples: ["resize"] }),
} as const;

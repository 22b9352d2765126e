-- votes.lua -- wrk sends each line of a file once: path, cookie, body, separated by tabs. After `--`: FILE THREADS [PAUSE_MS].
-- The requests are made before the clock runs, so that the client takes as little as it can of the cores that it shares with the server.
local threads_made = 0

function setup(thread)
    thread:set("number", threads_made)
    threads_made = threads_made + 1
end

function init(words)
    requests, at, pause_ms = {}, 0, tonumber(words[3] or "0")
    local threads, i = tonumber(words[2]), 0
    for line in io.lines(words[1]) do
        if i % threads == number then
            local path, cookie, body = line:match("^(.-)\t(.-)\t(.*)$")
            requests[#requests + 1] = wrk.format("POST", path, {["Cookie"] = cookie, ["Host"] = "bench",
                ["Content-Type"] = "application/x-www-form-urlencoded"}, body)
        end
        i = i + 1
    end
end

-- Only of use when it differs from 0: wrk asks for it before each request.
function delay()
    return pause_ms > 0 and math.random(0, 2 * pause_ms) or 0
end

function request()
    at = at + 1
    if at > #requests then -- the script sees by the count that there were too few
        wrk.thread:stop()
        at = #requests
    end
    return requests[at]
end

-- pages.lua -- wrk asks for the lines of a file in random order, for ever: path, and cookie or nothing, separated by a tab. After `--`: FILE.
function init(words)
    requests = {}
    math.randomseed(os.time() + tonumber(tostring({}):match("0x(%x+)"), 16) % 100000)
    for line in io.lines(words[1]) do
        local path, cookie = line:match("^(.-)\t(.*)$")
        requests[#requests + 1] = wrk.format("GET", path, {["Host"] = "bench", ["Cookie"] = cookie ~= "" and cookie or nil})
    end
end

function request()
    return requests[math.random(#requests)]
end
